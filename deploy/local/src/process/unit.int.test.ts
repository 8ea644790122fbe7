import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Unit, type UnitDeps, type UnitStatus } from "./unit";
import { until, workbench, type Workbench } from "./testProcess";
import type { ProcessSpec } from "./ownedProcess";

let bench: Workbench;
let troubles: string[];
let states: UnitStatus["state"][];
beforeEach(() => {
  bench = workbench();
  troubles = [];
  states = [];
});
afterEach(() => bench.clear());

function unitOf(
  spec: ProcessSpec,
  backoffMs = () => 10,
  onChange: UnitDeps["onChange"] = ({ state }) => states.push(state),
): Unit {
  return new Unit(spec, {
    guard: bench.guard,
    onChange,
    onTrouble: (message) => troubles.push(message),
    backoffMs,
  });
}

test("a killed process is restarted, and its state shows it", async () => {
  const unit = unitOf(bench.spec("exec sleep 60"));
  await unit.start();
  const first = unit.status.pid!;
  process.kill(first, "SIGKILL");
  await until(() => unit.status.state === "ready" && unit.status.pid !== first);
  expect(unit.status.restarts).toBe(1);
  expect(troubles).toEqual(["script ended with SIGKILL; starting it again"]);
  await unit.stop();
});

test("a stopped process starts again only on request", async () => {
  const unit = unitOf(bench.spec("exec sleep 60"));
  await unit.start();
  await unit.stop();
  expect(unit.status).toEqual({ name: "script", state: "stopped", pid: undefined, restarts: 0 });
  await unit.start();
  expect(unit.status).toMatchObject({ state: "ready", restarts: 0 });
  await unit.stop();
  expect(troubles).toEqual([]);
  expect(states.at(-1)).toBe("stopped");
});

test("a failed first start is reported to its caller and not repeated", async () => {
  const unit = unitOf(
    bench.spec("echo once >> starts; exit 1", { probe: () => Promise.reject(new Error("no")) }),
  );
  await expect(unit.start()).rejects.toThrow("ended at once with exit code 1");
  expect(unit.status.state).toBe("stopped");
  expect(readFileSync(join(bench.dir, "starts"), "utf8")).toBe("once\n");
});

test("restarts of a failing process back off", async () => {
  const pauses: number[] = [];
  const gate = join(bench.dir, "broken");
  const unit = unitOf(
    bench.spec("[ -f broken ] && exit 1; exec sleep 60", {
      probe: async () => {
        if (existsSync(gate)) throw new Error("broken");
      },
    }),
    (...args: number[]) => {
      pauses.push(args[0]!);
      return 10;
    },
  );
  await unit.start();
  appendFileSync(gate, "");
  process.kill(unit.status.pid!, "SIGKILL");
  await until(() => pauses.length >= 4);
  await unit.stop();
  expect(pauses.slice(0, 4)).toEqual([1, 2, 3, 4]);
});

test("a process that waits for its next attempt stops at once", async () => {
  const unit = unitOf(bench.spec("exec sleep 60"), () => 60_000);
  await unit.start();
  process.kill(unit.status.pid!, "SIGKILL");
  await until(() => unit.status.state === "restarting");
  await unit.stop();
  expect(unit.status.state).toBe("stopped");
});

test("a process that is started while it stops ends first and is then supervised", async () => {
  const script =
    "trap 'sleep 0.3; echo ended >> lives; exit 0' TERM; echo began >> lives; while :; do sleep 0.05; done";
  const lives = () => readFileSync(join(bench.dir, "lives"), "utf8").trim().split("\n");
  let begun = 0;
  const unit = unitOf(
    bench.spec(script, {
      beforeSpawn: async () => void (begun += 1),
      probe: async () => {
        if (lives().filter((line) => line === "began").length < begun) throw new Error("not yet");
      },
    }),
  );
  await unit.start();
  const stopped = unit.stop();
  await unit.start();
  await stopped;
  expect(lives()).toEqual(["began", "ended", "began"]);
  const second = unit.status.pid!;
  process.kill(-second, "SIGKILL");
  await until(() => unit.status.state === "ready" && unit.status.pid !== second);
  await unit.stop();
  expect(lives()).toEqual(["began", "ended", "began", "began", "ended"]);
  expect(troubles).toEqual(["script ended with SIGKILL; starting it again"]);
});

test("a process that is stopped during preparation does not start", async () => {
  let clear: () => void = () => undefined;
  const isClear = new Promise<void>((resolve) => (clear = resolve));
  let isClearing = false;
  const beforeSpawn = (): Promise<void> => {
    isClearing = true;
    return isClear;
  };
  const unit = unitOf(bench.spec("exec sleep 60", { beforeSpawn }));
  const refused = expect(unit.start()).rejects.toThrow("script was stopped before it was ready");
  await until(() => isClearing);
  const stopped = unit.stop();
  clear();
  await Promise.all([stopped, refused]);
  expect(unit.status).toMatchObject({ state: "stopped", pid: undefined });
});

test("a process that is stopped before its turn reports that to its caller", async () => {
  const unit = unitOf(bench.spec("echo once >> starts; exec sleep 60"));
  const refused = expect(unit.start()).rejects.toThrow("script was stopped before it was ready");
  await Promise.all([unit.stop(), refused]);
  expect(unit.status.state).toBe("stopped");
  expect(existsSync(join(bench.dir, "starts"))).toBe(false);
});

test("a process runs on when its state cannot be recorded, which is logged once", async () => {
  let isFull = true;
  const record = ({ state }: UnitStatus): void => {
    if (isFull) throw new Error("no space left on device");
    states.push(state);
  };
  const unit = unitOf(bench.spec("exec sleep 60"), undefined, record);
  await unit.start();
  const first = unit.status.pid!;
  process.kill(first, "SIGKILL");
  await until(() => unit.status.state === "ready" && unit.status.pid !== first);
  expect(troubles).toEqual([
    "The new state of script cannot be recorded (no space left on device), which is tried again.",
    "script ended with SIGKILL; starting it again",
  ]);
  isFull = false;
  await unit.stop();
  expect(states).toEqual(["stopping", "stopped"]);
});
