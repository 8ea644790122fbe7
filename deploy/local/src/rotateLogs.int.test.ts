import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logRotation } from "./rotateLogs";

let dir: string;
let troubles: string[];
let rotate: () => void;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "wonrail-logs-"));
  troubles = [];
  rotate = logRotation({ logsDir: dir, maxBytes: 100, onTrouble: (message) => troubles.push(message) });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a log over its limit is rotated and continues empty under the same writer", () => {
  const file = join(dir, "auth.log");
  const writer = openSync(file, "a");
  writeSync(writer, "first\n".repeat(20));
  rotate();
  writeSync(writer, "second\n");
  appendFileSync(join(dir, "short.log"), "short\n");
  rotate();
  closeSync(writer);
  expect(readFileSync(file, "utf8")).toBe("second\n");
  expect(readFileSync(`${file}.1`, "utf8")).toBe("first\n".repeat(20));
  expect(readFileSync(join(dir, "short.log"), "utf8")).toBe("short\n");
  expect(troubles).toEqual([]);
});

test("a removed folder is created again, for its owner only", () => {
  rmSync(dir, { recursive: true });
  rotate();
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(troubles).toEqual([]);
});

test("a deleted home is not created again, which is logged once", () => {
  const logsDir = join(dir, "home/logs");
  const turn = logRotation({ logsDir, onTrouble: (message) => troubles.push(message) });
  turn();
  turn();
  expect(troubles).toEqual([
    expect.stringMatching(/home\/logs cannot be looked at \(.*ENOENT.*tried again\.$/),
  ]);
});

test("a log that cannot be rotated does not stop the others, is logged once and retried", () => {
  for (const name of ["auth", "ledger"]) appendFileSync(join(dir, `${name}.log`), "line\n".repeat(30));
  const blockingFolder = join(dir, "auth.log.1");
  mkdirSync(blockingFolder);
  rotate();
  rotate();
  expect(troubles).toEqual([
    expect.stringMatching(/auth\.log cannot be rotated \(.*\), which is tried again\.$/),
  ]);
  expect(statSync(join(dir, "ledger.log")).size).toBe(0);
  expect(statSync(join(dir, "auth.log")).size).toBe(150);
  rmSync(blockingFolder, { recursive: true });
  rotate();
  expect(statSync(join(dir, "auth.log")).size).toBe(0);
  expect(statSync(blockingFolder).size).toBe(150);
});
