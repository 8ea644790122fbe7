import { existsSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { homeAt } from "@wonrail/local/home";
import { isAlive, type KnownProcess } from "@wonrail/local/process/fingerprint";
import type { ProcessReport } from "@wonrail/local/commands/stack";
import { startKeyTraffic } from "./support/keyTraffic";
import { knownProcesses, launch, startStack, temporaryHome, type TestStack } from "./support/startStack";

// What `make up` promises about its processes: they come back by themselves or through the stack, each alone; nothing is lost while they
// are away; and however the launcher goes, nothing stays behind.

jest.setTimeout(300_000);

const PARTS = { postgres: ["postgres", "anvil"], kafka: ["postgres", "anvil", "kafka"] } as const;
const SERVICES = ["auth", "ledger", "wallet", "payment", "chain-relayer", "gateway"];

const pidsOf = (reports: ProcessReport[], except: string) =>
  Object.fromEntries(reports.filter(({ name }) => name !== except).map(({ name, pid }) => [name, pid]));

async function untilGone(processes: KnownProcess[]): Promise<void> {
  for (let waitedMs = 0; processes.some(isAlive) && waitedMs < 15_000; waitedMs += 50) await sleep(50);
  expect(processes.filter(isAlive)).toEqual([]);
}

describe.each(Object.keys(PARTS) as (keyof typeof PARTS)[])("on the %s bus", (bus) => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startStack({ bus });
  });
  afterAll(() => stack?.stop());

  test.each([...PARTS[bus], ...SERVICES])(
    "%s is killed: it comes back, and nobody else is touched",
    async (name) => {
      const before = await stack.untilReady();
      const killed = await stack.kill(name);
      await sleep(200);
      const after = await stack.untilReady();
      expect(pidsOf(after, name)).toEqual(pidsOf(before, name));
      expect(after.find((report) => report.name === name)?.pid).not.toBe(killed);
    },
  );

  test("no event is lost while each of them is killed in turn", async () => {
    const traffic = startKeyTraffic(stack);
    for (const name of [...PARTS[bus], "auth", "gateway"]) {
      await traffic.untilMore(5);
      await stack.kill(name);
      await stack.untilReady();
    }
    await traffic.untilMore(5);
    const { issued, missing } = await traffic.stop();
    expect(issued).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  test("one that is stopped through the stack stays away until it is started again", async () => {
    await stack.act("stop", "ledger");
    await sleep(500);
    expect((await stack.statuses()).find(({ name }) => name === "ledger")).toMatchObject({
      state: "stopped",
      ready: false,
    });
    await stack.act("start", "ledger");
    await stack.untilReady();
  });
});

describe("the launcher", () => {
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  test("a second start in the same home says so and exits with 2", async () => {
    const stack = await startStack({ home, bus: "postgres" });
    const second = launch(home, "postgres");
    let said = "";
    second.stderr?.on("data", (text: Buffer) => (said += text.toString()));
    const code = await new Promise((resolve) => second.once("exit", resolve));
    expect(code).toBe(2);
    expect(said).toMatch(/^A stack is running already: process \d+ has it since .*\.\n {2}Next: /);
    expect(await stack.stop()).toBe(0);
  });

  test("two stacks run side by side, with the usual ports taken by a stranger", async () => {
    const stranger = await listenOn(8080);
    const one = await startStack({ home, bus: "postgres" });
    const other = await startStack({ bus: "postgres" });
    expect(one.stack().gatewayUrl).not.toBe(other.stack().gatewayUrl);
    await Promise.all([one.untilReady(), other.untilReady()]);
    await Promise.all([one.stop(), other.stop()]);
    stranger?.close();
  });

  test("SIGTERM leaves no process, and the next start has the same keys", async () => {
    const first = await startStack({ home, bus: "postgres" });
    const { organisations } = first.stack();
    const processes = first.alive();
    expect(processes.length).toBeGreaterThan(8);
    expect(await first.stop()).toBe(0);
    await untilGone(processes);
    const second = await startStack({ home, bus: "postgres" });
    expect(second.stack().organisations).toEqual(organisations);
    await second.stop();
  });

  test("a killed launcher's processes are ended by its guard", async () => {
    const stack = await startStack({ home, bus: "postgres" });
    const processes = stack.alive();
    stack.launcher.kill("SIGKILL");
    await untilGone(processes);
  });

  test("what even the guard could not end, the next start ends", async () => {
    const first = await startStack({ home, bus: "postgres" });
    const processes = first.alive();
    const guard = processes.find(({ name }) => name === "guard")!;
    process.kill(guard.pid, "SIGKILL");
    first.launcher.kill("SIGKILL");
    await sleep(500);
    expect(processes.filter(isAlive).length).toBeGreaterThan(6);
    const second = await startStack({ home, bus: "postgres" });
    await untilGone(processes);
    expect(second.output()).toMatch(/Ended what an earlier start left running: .*auth/);
    await second.untilReady();
    await second.stop();
  });

  test("asked to stop while it is starting, it stops what has started", async () => {
    const launcher = launch(home, "postgres");
    const files = homeAt(home);
    while (!existsSync(files.processesFile)) await sleep(20);
    await sleep(300);
    const processes = knownProcesses(files);
    launcher.kill("SIGTERM");
    expect(await new Promise((resolve) => launcher.once("exit", resolve))).toBe(0);
    await untilGone(processes);
  });
});

/** Undefined when somebody has the port already, which is as good. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
