import { createRegistry, type Registry } from "../metrics";

/** A registry for tests that ignore metrics or read only their own. */
export function testRegistry(): Registry {
  return createRegistry({ service: "test", version: "0", commit: "0" });
}
