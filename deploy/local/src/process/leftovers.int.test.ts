import { setTimeout as sleep } from "node:timers/promises";
import { commandLine, fingerprint } from "./fingerprint";
import { endLeftovers } from "./leftovers";
import { startProcess } from "./ownedProcess";
import { workbench, type Workbench } from "./testProcess";

let bench: Workbench;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.clear());

test("ends and names the processes that an earlier start left running", async () => {
  const { pid, exited } = await startProcess(bench.spec("exec sleep 60"), bench.guard);
  // The shell becomes the program a moment after its start, which changes its fingerprint.
  while (commandLine(pid) !== "sleep 60") await sleep(10);
  const ended = await endLeftovers([{ name: "auth", pid, fingerprint: fingerprint(pid)! }]);
  expect(ended).toEqual(["auth"]);
  expect(await exited).toEqual({ code: null, signal: "SIGTERM" });
});

test("an unrelated process with a reused number is left alone", async () => {
  const owned = await startProcess(bench.spec("exec sleep 60"), bench.guard);
  const ended = await endLeftovers([{ name: "auth", pid: owned.pid, fingerprint: "4711 another process" }]);
  expect(ended).toEqual([]);
  expect(fingerprint(owned.pid)).toBeDefined();
  await owned.stop();
});
