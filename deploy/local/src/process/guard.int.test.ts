import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "./fingerprint";
import { until, workbench, type Workbench } from "./testProcess";

let bench: Workbench;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.clear());

/** A Node process that starts another one under a guard and then does nothing. */
function startParent(temporaryDir: string) {
  const script = `
    const { startGuard } = require("./guard.ts");
    const { startProcess } = require("./ownedProcess.ts");
    const { writeFileSync, renameSync } = require("node:fs");
    const spec = {
      name: "child", command: "/bin/sh", args: () => ["-c", 'trap "" TERM; sleep 63 & wait; sleep 64'], env: {}, cwd: "/",
      logFile: ${JSON.stringify(join(bench.dir, "child.log"))}, stopSignal: "SIGINT", stopGraceMs: 1, readyTimeoutMs: 1000,
      probe: async () => undefined,
    };
    startProcess(spec, startGuard(${JSON.stringify(temporaryDir)})).then(({ pid }) => {
      writeFileSync(${JSON.stringify(join(bench.dir, "new"))}, String(pid));
      renameSync(${JSON.stringify(join(bench.dir, "new"))}, ${JSON.stringify(join(bench.dir, "pid"))});
      setInterval(() => undefined, 1000);
    });`;
  return spawn(process.execPath, ["--require", require.resolve("tsx/cjs"), "-e", script], {
    cwd: __dirname,
    stdio: "inherit",
  });
}

test("a parent that is killed leaves no process and no temporary folder", async () => {
  const temporary = join(bench.dir, "temporary");
  mkdirSync(temporary);
  const parent = startParent(temporary);
  await until(() => existsSync(join(bench.dir, "pid")), 40_000);
  const child = Number(readFileSync(join(bench.dir, "pid"), "utf8"));
  expect(fingerprint(child)).toBeDefined();
  parent.kill("SIGKILL");
  await until(() => fingerprint(child) === undefined && !existsSync(temporary), 40_000);
}, 90_000);
