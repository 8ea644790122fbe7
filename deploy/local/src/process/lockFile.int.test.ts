import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LockHeld, readHolder, takeLock } from "./lockFile";

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "wonrail-lock-"));
  file = join(dir, "lock.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a second process gets the name of the lock's holder", () => {
  const { pid } = takeLock(file);
  expect(pid).toBe(process.pid);
  expect(readHolder(file)).toMatchObject({ pid: process.pid });
  expect(() => takeLock(file)).toThrow(LockHeld);
  expect(() => takeLock(file)).toThrow(`process ${process.pid} has it since`);
});

test("the lock of a dead process is taken over, also when its number is in use again", () => {
  const dead = {
    pid: process.pid,
    fingerprint: "4711 another process",
    startedAt: "2026-11-01T00:00:00.000Z",
  };
  writeFileSync(file, JSON.stringify(dead));
  expect(readHolder(file)).toBeUndefined();
  expect(takeLock(file).fingerprint).not.toBe(dead.fingerprint);
  expect(readdirSync(dir)).toEqual(["lock.json"]);
});

test("a half-written lock counts as free", () => {
  writeFileSync(file, '{"pid": 1');
  expect(takeLock(file).pid).toBe(process.pid);
});

test("exactly one of many starting processes takes a dead holder's lock", async () => {
  writeFileSync(file, JSON.stringify({ pid: 1, fingerprint: "dead", startedAt: "" }));
  const script = `
    const { takeLock } = require("./lockFile.ts");
    try { takeLock(${JSON.stringify(file)}); console.log("won"); process.stdin.resume(); } catch (error) { console.log(error.name); }`;
  const args = ["--require", require.resolve("tsx/cjs"), "-e", script];
  const starters = Array.from({ length: 6 }, () =>
    spawn(process.execPath, args, { cwd: __dirname, stdio: ["pipe", "pipe", "inherit"] }),
  );
  const answers = await Promise.all(
    starters.map(
      (child) =>
        new Promise<string>((resolve) =>
          child.stdout.once("data", (text: Buffer) => resolve(text.toString().trim())),
        ),
    ),
  );
  starters.forEach((child) => child.kill("SIGKILL"));
  expect(answers.sort()).toEqual([...Array<string>(5).fill("LockHeld"), "won"]);
}, 90_000);
