import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "@wonrail/local/config";
import { planBus } from "@wonrail/local/startBus";
import { type PayingClients, startPayingClients } from "./money/payingClients";
import { UNFINISHED_WORK, untilNone } from "./money/unfinishedWork";
import { newOrganisation } from "./support/operators";
import { exitOf, pidsOf, untilGone } from "./support/processes";
import { reconciled } from "./support/reconciled";
import { launch, startStack, type TestStack } from "./support/startStack";
import { verifyLedger } from "./support/verifyLedger";
import { startWalletTraffic, type WalletTraffic } from "./support/walletTraffic";

// Promises of `make up` about its processes: each restarts by itself or on request, and neither an
// event nor a payment is lost or doubled meanwhile.

jest.setTimeout(600_000);

const PARTS = { feed: ["postgres", "anvil"], kafka: ["postgres", "anvil", "kafka"] } as const;
const SERVICES = ["auth", "ledger", "wallet", "payment", "chain-relayer", "events", "gateway", "console"];

/** Kafka if the machine has it. feedAlone.int.test.ts kills the readers of the feed. */
const bus = planBus({ ...readConfig(), bus: undefined }).kind === "feed" ? "feed" : "kafka";
const PROCESSES = [...PARTS[bus], ...SERVICES];

let running: TestStack;
let traffic: WalletTraffic;
let payments: PayingClients;
beforeAll(async () => {
  running = await startStack({ bus });
  const { api } = await newOrganisation(running.stack());
  traffic = startWalletTraffic(running);
  payments = await startPayingClients(api);
});
afterAll(async () => {
  await Promise.allSettled([traffic?.stop(), payments?.stop()]);
  await running?.stop();
});

describe(`a stack on the ${bus} bus`, () => {
  test.each(PROCESSES)(
    "%s comes back when it is killed under traffic, and the other processes keep running",
    async (name) => {
      const before = await running.untilReady();
      await traffic.untilMore(5);
      await payments.untilMore(10);
      const killed = await running.kill(name);
      const after = await running.untilReady();
      expect(pidsOf(after, name)).toEqual(pidsOf(before, name));
      expect(after.find((report) => report.name === name)?.pid).not.toBe(killed);
    },
  );

  test("all processes come back in any order when all are killed at once, as in a power failure", async () => {
    await payments.untilMore(10);
    await Promise.all(PROCESSES.map((name) => running.kill(name)));
    await running.untilReady();
    await payments.untilMore(10);
  });

  test("the bus has every event after all processes were killed", async () => {
    await traffic.untilMore(5);
    await traffic.stop();
    const { made, missing } = await traffic.audit();
    expect(made).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  test("each payment was made once, and the books agree with the chain", async () => {
    const { paidWon, receivedWon } = await payments.stop();
    expect(receivedWon).toBe(paidWon);
    await untilNone(
      running.stack(),
      Object.keys(UNFINISHED_WORK) as (keyof typeof UNFINISHED_WORK)[],
      120_000,
    );
    expect(await verifyLedger(running.stack())).toContain("0 violations");
    const { wallets, drifts } = await reconciled(running.stack());
    expect(wallets).toBeGreaterThan(0);
    expect(drifts).toBe(0);
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

  test("SIGTERM leaves no process", async () => {
    const processes = running.alive();
    expect(processes.length).toBeGreaterThan(8);
    expect(await running.stop()).toBe(0);
    await untilGone(processes);
  });
});

async function readData(response: Response): Promise<Record<string, unknown>> {
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}
