import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "./fingerprint";
import { startProcess } from "./ownedProcess";
import { until, workbench, type Workbench } from "./testProcess";

let bench: Workbench;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.clear());

/** Ready once the script has created the file `ready`. */
const readyFile = () => ({
  probe: async () => {
    if (!existsSync(join(bench.dir, "ready"))) throw new Error("no file yet");
  },
});

test("is started when its probe succeeds, and stops on request", async () => {
  const owned = await startProcess(
    bench.spec("sleep 0.1; touch ready; exec sleep 60", readyFile()),
    bench.guard,
  );
  expect(existsSync(join(bench.dir, "ready"))).toBe(true);
  expect(await owned.stop()).toEqual({ code: null, signal: "SIGTERM" });
});

test("the error holds the last output of a process that ends before it is ready", async () => {
  const start = startProcess(bench.spec("echo the port is taken >&2; exit 3", readyFile()), bench.guard);
  await expect(start).rejects.toThrow(/ended at once with exit code 3\. It wrote:\n {4}the port is taken/);
});

test("ends a process that never becomes ready, and reports the last reason", async () => {
  const pidFile = join(bench.dir, "pid");
  const spec = bench.spec("echo $$ > new; mv new pid; exec sleep 60", {
    readyTimeoutMs: 500,
    // It works before its timeout, also after a late start.
    probe: async () => {
      await until(() => existsSync(pidFile));
      throw new Error("no file yet");
    },
  });
  await expect(startProcess(spec, bench.guard)).rejects.toThrow("it was not ready after 0.5 s (no file yet)");
  expect(fingerprint(Number(readFileSync(pidFile, "utf8")))).toBeUndefined();
});

test("a missing command is an error, not a crash", async () => {
  const start = startProcess(bench.spec("", { command: "/no/such/program" }), bench.guard);
  await expect(start).rejects.toThrow("/no/such/program cannot be run");
});

test("kills a process with its children when it ignores the stop signal", async () => {
  const script = 'trap "" TERM; sleep 61 & echo $! > child; touch ready; wait; sleep 62';
  const owned = await startProcess(bench.spec(script, { ...readyFile(), stopGraceMs: 200 }), bench.guard);
  const child = Number(readFileSync(join(bench.dir, "child"), "utf8"));
  expect(await owned.stop()).toEqual({ code: null, signal: "SIGKILL" });
  await until(() => fingerprint(child) === undefined);
});
