import { createLog, type Log } from "../log";

/** Silent unless TEST_LOG names a level. */
export function testLog(): Log {
  return createLog({ service: "test", level: process.env.TEST_LOG ?? "silent" });
}
