import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rotateLogs } from "./rotateLogs";

test("a log over its limit is put aside and goes on from empty, under the same writer", () => {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-logs-"));
  const file = join(dir, "auth.log");
  const writer = openSync(file, "a");
  writeSync(writer, "first\n".repeat(20));
  rotateLogs(dir, 100);
  writeSync(writer, "second\n");
  appendFileSync(join(dir, "short.log"), "short\n");
  rotateLogs(dir, 100);
  closeSync(writer);
  expect(readFileSync(file, "utf8")).toBe("second\n");
  expect(readFileSync(`${file}.1`, "utf8")).toBe("first\n".repeat(20));
  expect(readFileSync(join(dir, "short.log"), "utf8")).toBe("short\n");
  rmSync(dir, { recursive: true });
});
