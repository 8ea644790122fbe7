import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const FULL = "/dev/full";
const CREATE = `const log = require(${JSON.stringify(join(__dirname, "log.ts"))}).createLog({ service: "test" });`;

function run(script: string, stdout: number | "pipe"): ChildProcess {
  return spawn(process.execPath, ["--require", require.resolve("tsx/cjs"), "--eval", script], {
    stdio: ["ignore", stdout, "pipe"],
  });
}

(existsSync(FULL) ? test : test.skip)(
  "a log on a volume that is full neither ends its process nor keeps it from its end",
  async () => {
    const script = `
      ${CREATE}
      log.info("first");
      setTimeout(() => log.info("still here"), 100);
      setTimeout(() => process.exit(7), 200);`;
    const full = openSync(FULL, "w");
    const child = run(script, full);
    closeSync(full);
    const insist = setTimeout(() => child.kill("SIGKILL"), 60_000);
    expect(await once(child, "exit")).toEqual([7, null]);
    clearTimeout(insist);
  },
);

const ENDS = [
  ["ends by itself", ""],
  ["is ended", "process.exit(0);"],
  ["crashes", "log.fatal(new Error()); throw new Error();"],
] as const;

test.each(ENDS)("lines logged before a process %s are written", async (_how, end) => {
  const child = run(
    `${CREATE} for (let line = 0; line < 1000; line += 1) log.info({ line }); ${end}`,
    "pipe",
  );
  const [written] = await Promise.all([text(child.stdout!), once(child, "exit")]);
  expect(written.split("\n").filter((line) => line.includes('"line":'))).toHaveLength(1000);
});

test("lines are written together soon after their calls", async () => {
  const script = `
    const fs = require("node:fs");
    const write = fs.write;
    let writes = 0;
    fs.write = (...given) => ((writes += 1), write(...given));
    ${CREATE}
    let left = 200;
    const lines = setInterval(() => {
      log.info("one of many");
      left -= 1;
      if (left > 0) return;
      clearInterval(lines);
      setTimeout(() => (console.error(writes), process.kill(process.pid, "SIGKILL")), 1000);
    }, 1);`;
  const child = run(script, "pipe");
  const [written, writes] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  expect(written.split("\n").filter((line) => line.includes("one of many"))).toHaveLength(200);
  expect(Number(writes)).toBeGreaterThan(0);
  expect(Number(writes)).toBeLessThan(100);
});

test("the cost of a line does not grow with the number of waiting lines", async () => {
  const script = `
    const { Session } = require("node:inspector");
    ${CREATE}
    const session = new Session();
    session.connect();
    const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    session.post("HeapProfiler.startSampling", collected);
    for (let line = 0; line < 5000; line += 1) log.info({ line });
    const bytes = (node) => node.children.reduce((sum, child) => sum + bytes(child), node.selfSize);
    session.post("HeapProfiler.stopSampling", (_, { profile }) => console.error(bytes(profile.head) / 5000));`;
  const child = run(script, "pipe");
  const [bytesEach] = await Promise.all([text(child.stderr!), text(child.stdout!)]);
  expect(Number(bytesEach)).toBeGreaterThan(100);
  expect(Number(bytesEach)).toBeLessThan(32_000);
});
