import { existsSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessReport } from "@wonrail/local/commands/stack";
import { readConfig } from "@wonrail/local/config";
import { homeAt } from "@wonrail/local/home";
import { isAlive, type KnownProcess } from "@wonrail/local/process/fingerprint";
import { planBus } from "@wonrail/local/startBus";
import type { DemoOrganisation } from "@wonrail/local/stackFile";
import { knownProcesses, launch, startStack, temporaryHome, type TestStack } from "./support/startStack";
import { startWalletTraffic, type WalletTraffic } from "./support/walletTraffic";

// Promises of `make up` about its processes: each restarts by itself or on request, no event is
// lost meanwhile, and no process outlives the launcher.

jest.setTimeout(600_000);

const PARTS = { feed: ["postgres", "anvil"], kafka: ["postgres", "anvil", "kafka"] } as const;
const SERVICES = ["auth", "ledger", "wallet", "payment", "chain-relayer", "events", "gateway"];

/** Both buses where this machine can have both. */
const kafka = planBus({ ...readConfig(), bus: undefined }).kind !== "feed";
const BUSES: (keyof typeof PARTS)[] = kafka ? ["feed", "kafka"] : ["feed"];

describe.each(BUSES)("on the %s bus", (bus) => {
  let stack: TestStack;
  let traffic: WalletTraffic;
  beforeAll(async () => {
    stack = await startStack({ bus });
    traffic = startWalletTraffic(stack);
  });
  afterAll(async () => {
    await traffic?.stop();
    await stack?.stop();
  });

  test.each([...PARTS[bus], ...SERVICES])(
    "%s is killed under traffic: it comes back, and nobody else is touched",
    async (name) => {
      const before = await stack.untilReady();
      await traffic.untilMore(5);
      const killed = await stack.kill(name);
      const after = await stack.untilReady();
      expect(pidsOf(after, name)).toEqual(pidsOf(before, name));
      expect(after.find((report) => report.name === name)?.pid).not.toBe(killed);
    },
  );

  test("no event is lost while each process is killed in turn", async () => {
    await traffic.untilMore(5);
    await traffic.stop();
    const { made, missing } = await traffic.audit();
    expect(made).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  test("a service that was stopped through the stack stays stopped until its start", async () => {
    await stack.act("stop", "ledger");
    await sleep(500);
    const reports = await stack.statuses();
    expect(reports.find(({ name }) => name === "ledger")).toMatchObject({ state: "stopped", ready: false });
    await stack.act("start", "ledger");
    await stack.untilReady();
  });

  test("a second start in the same home exits with 2 and says so", async () => {
    const second = launch(stack.home.dir, bus);
    let printed = "";
    second.stderr?.on("data", (text: Buffer) => (printed += text.toString()));
    expect(await exitOf(second)).toBe(2);
    expect(printed).toMatch(/^A stack is running already: process \d+ has it since .*\.\n {2}Next: /);
  });
});

describe("a home whose launcher ends in any way", () => {
  const dir = temporaryHome();
  let organisations: DemoOrganisation[];
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("keeps no process after SIGTERM, and another stack beside it runs on", async () => {
    const other = await startStack({ bus: "feed" });
    const stack = await startStack({ home: dir, bus: "feed" });
    ({ organisations } = stack.stack());
    expect(stack.stack().gatewayUrl).not.toBe(other.stack().gatewayUrl);
    const processes = stack.alive();
    expect(processes.length).toBeGreaterThan(8);
    expect(await stack.stop()).toBe(0);
    await untilGone(processes);
    await other.untilReady();
    expect(await other.stop()).toBe(0);
  });

  test("a start that is interrupted stops the processes it has started", async () => {
    const files = homeAt(dir);
    const launcher = launch(dir, "feed");
    while (!existsSync(files.processesFile)) await sleep(20);
    await sleep(300);
    const processes = knownProcesses(files);
    launcher.kill("SIGTERM");
    expect(await exitOf(launcher)).toBe(0);
    await untilGone(processes);
  });

  let stack: TestStack;
  test("keeps its data for the next start, which ends processes that the guard could not end", async () => {
    const first = await startStack({ home: dir, bus: "feed" });
    expect(first.stack().organisations).toEqual(organisations);
    const processes = first.alive();
    process.kill(processes.find(({ name }) => name === "guard")!.pid, "SIGKILL");
    first.launcher.kill("SIGKILL");
    await sleep(500);
    expect(processes.filter(isAlive).length).toBeGreaterThan(6);
    stack = await startStack({ home: dir, bus: "feed" });
    await untilGone(processes);
    expect(stack.output()).toMatch(/Ended what an earlier start left running: .*auth/);
    await stack.untilReady();
  });

  test("has its processes ended by the guard after a kill of the launcher", async () => {
    const processes = stack.alive();
    expect(processes.length).toBeGreaterThan(8);
    stack.launcher.kill("SIGKILL");
    await untilGone(processes);
  });
});

function pidsOf(reports: ProcessReport[], except: string): Record<string, number | undefined> {
  const others = reports.filter(({ name }) => name !== except);
  return Object.fromEntries(others.map(({ name, pid }) => [name, pid]));
}

/** Resolves when all output was read. */
function exitOf(launcher: ReturnType<typeof launch>): Promise<number | null> {
  return new Promise((resolve) => launcher.once("close", resolve));
}

async function untilGone(processes: KnownProcess[]): Promise<void> {
  for (let waitedMs = 0; processes.some(isAlive) && waitedMs < 60_000; waitedMs += 50) await sleep(50);
  expect(processes.filter(isAlive)).toEqual([]);
}
