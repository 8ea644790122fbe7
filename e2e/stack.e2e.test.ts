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
const SERVICES = ["auth", "ledger", "wallet", "payment", "chain-relayer", "events", "gateway", "console"];

/** Kafka if the machine has it. feedAlone.int.test.ts kills the readers of the feed. */
const bus = planBus({ ...readConfig(), bus: undefined }).kind === "feed" ? "feed" : "kafka";

let running: TestStack;
let traffic: WalletTraffic;
beforeAll(async () => {
  running = await startStack({ bus });
  traffic = startWalletTraffic(running);
});
afterAll(async () => {
  await traffic?.stop();
  await running?.stop();
});

describe(`a stack on the ${bus} bus`, () => {
  test.each([...PARTS[bus], ...SERVICES])(
    "%s comes back when it is killed under traffic, and the other processes keep running",
    async (name) => {
      const before = await running.untilReady();
      await traffic.untilMore(5);
      const killed = await running.kill(name);
      const after = await running.untilReady();
      expect(pidsOf(after, name)).toEqual(pidsOf(before, name));
      expect(after.find((report) => report.name === name)?.pid).not.toBe(killed);
    },
  );

  test("the bus has every event after all processes were killed", async () => {
    await traffic.untilMore(5);
    await traffic.stop();
    const { made, missing } = await traffic.audit();
    expect(made).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  test("a process that was stopped through the stack stays away until it is started again", async () => {
    await running.act("stop", "ledger");
    await sleep(500);
    const reports = await running.statuses();
    expect(reports.find(({ name }) => name === "ledger")).toMatchObject({ state: "stopped", ready: false });
    await running.act("start", "ledger");
    await running.untilReady();
  });

  test("the printed link signs in to the console, whose RPCs reach the services", async () => {
    const link = new URL(/^ +Console +(http\S+)/m.exec(running.output())![1]!);
    expect(link.origin).toBe(running.stack().consoleUrl);
    const signedIn = await fetch(link, { redirect: "manual" });
    const headers = { cookie: signedIn.headers.getSetCookie()[0]!.split(";")[0]!, origin: link.origin };
    const session = await readData(await fetch(new URL("/api/session", link), { headers }));
    expect(session).toMatchObject({ operator: { roles: ["admin"] } });
    const answer = await fetch(
      new URL("/api/admin/wonrail.auth.v1.AuthAdminService/ListOrganisations", link),
      {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          "x-csrf-token": String(session.csrfToken),
        },
        body: '{"limit":10}',
      },
    );
    expect(JSON.stringify(await readData(answer))).toContain('"DEMO"');
  });

  test("a second start in the same home prints the reason and exits with 2", async () => {
    const second = launch(running.home.dir, bus);
    let output = "";
    second.stderr?.on("data", (text: Buffer) => (output += text.toString()));
    expect(await exitOf(second)).toBe(2);
    expect(output).toMatch(/^A stack is running already: process \d+ has it since .*\.\n {2}Next: /);
  });
});

describe("a home whose launcher ends", () => {
  const dir = temporaryHome();
  let organisations: DemoOrganisation[];
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("SIGTERM leaves no process, and another stack keeps running", async () => {
    const stack = await startStack({ home: dir, bus: "feed" });
    ({ organisations } = stack.stack());
    expect(stack.stack().gatewayUrl).not.toBe(running.stack().gatewayUrl);
    const before = await running.untilReady();
    const processes = stack.alive();
    expect(processes.length).toBeGreaterThan(8);
    expect(await stack.stop()).toBe(0);
    await untilGone(processes);
    expect(pidsOf(await running.untilReady())).toEqual(pidsOf(before));
  });

  test("SIGTERM during the start stops all processes that have started", async () => {
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
  test("the next start has the data, and ends processes that outlived launcher and guard", async () => {
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

  test("the guard ends the processes of a killed launcher", async () => {
    const processes = stack.alive();
    expect(processes.length).toBeGreaterThan(8);
    stack.launcher.kill("SIGKILL");
    await untilGone(processes);
  });
});

function pidsOf(reports: ProcessReport[], except?: string): Record<string, number | undefined> {
  const others = reports.filter(({ name }) => name !== except);
  return Object.fromEntries(others.map(({ name, pid }) => [name, pid]));
}

/** Resolves when the process has ended and all its output has arrived. */
function exitOf(launcher: ReturnType<typeof launch>): Promise<number | null> {
  return new Promise((resolve) => launcher.once("close", resolve));
}

async function untilGone(processes: KnownProcess[]): Promise<void> {
  for (let waitedMs = 0; processes.some(isAlive) && waitedMs < 60_000; waitedMs += 50) await sleep(50);
  expect(processes.filter(isAlive)).toEqual([]);
}

async function readData(response: Response): Promise<Record<string, unknown>> {
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}
