import { createRegistry, type Registry } from "../metrics";

/** For what measures itself, where a test does not look at it, or is alone with it. */
export function testRegistry(): Registry {
  return createRegistry({ service: "test", version: "0", commit: "0" });
}
