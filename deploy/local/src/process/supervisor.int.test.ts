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

test("one that was being restarted when everything is stopped does not start again", async () => {
  await supervisor.run(bench.spec("exec sleep 60"), 1);
  const refused = expect(supervisor.restart("script")).rejects.toThrow("The stack is being stopped.");
  await Promise.all([supervisor.close(), refused]);
  expect(supervisor.statuses()).toMatchObject([{ state: "stopped", pid: undefined }]);
});
