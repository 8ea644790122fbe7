import { Supervisor } from "./supervisor";
import { workbench, type Workbench } from "./testProcess";

let bench: Workbench;
let supervisor: Supervisor;
beforeEach(() => {
  bench = workbench();
  const silent = () => undefined;
  supervisor = new Supervisor({ guard: bench.guard, onChange: silent, onTrouble: silent });
});
afterEach(async () => {
  await supervisor.close();
  bench.clear();
});

test("a restarting process does not start again when everything stops", async () => {
  await supervisor.run(bench.spec("exec sleep 60"), 1);
  const refused = expect(supervisor.restart("script")).rejects.toThrow("The stack is being stopped.");
  await Promise.all([supervisor.close(), refused]);
  expect(supervisor.statuses()).toMatchObject([{ state: "stopped", pid: undefined }]);
});

test("three concurrent restarts each resolve when a process of their own is ready", async () => {
  const readyAfterMs = 100;
  let startedAt = 0;
  const probe = async () => {
    if (Date.now() - startedAt < readyAfterMs) throw new Error("not ready yet");
  };
  await supervisor.run(bench.spec("exec sleep 60", { probe }), 1);
  const pids = new Set([supervisor.statuses()[0]!.pid]);
  startedAt = Date.now();
  const restart = async () => {
    await supervisor.restart("script");
    const [status] = supervisor.statuses();
    expect(status!.state).toBe("ready");
    pids.add(status!.pid);
    startedAt = Date.now();
  };
  await Promise.all([restart(), restart(), restart()]);
  expect(pids.size).toBe(4);
});
