import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { SERVICES } from "@wonrail/local/services";
import { openWallet } from "../money/scenes";
import { type Api, type Json } from "../support/api";
import { asAdmin } from "../support/asAdmin";
import { type NewOrganisation, newOrganisation } from "../support/operators";
import { reconciled } from "../support/reconciled";
import { startStack, type TestStack } from "../support/startStack";
import { verifyLedger } from "../support/verifyLedger";
import { type ArchivedPostgres, startArchivedPostgres } from "./archivedPostgres";
import { balancesOnChain } from "./chainFacts";
import { proposeAndApprove, wonrailJson } from "./commands";

const FIRST_WON = 1_000_000;
const CLIENTS = 3;
const PAUSE_MS = 200;
const SETTLED_MS = 120_000;
export const SERVICE_NAMES = SERVICES.map(({ name }) => name);

/** An order of money, with what became of it. */
export interface Order {
  path: string;
  body: Json;
  key: string;
  id: string;
  /** The transaction that settled it first. */
  txHash?: string;
}

/** A stack on a PostgreSQL that the test destroys and restores. */
export interface RestoreWorld {
  stack: TestStack;
  postgres: ArchivedPostgres;
  organisation: NewOrganisation;
  api: Api;
  wallets: Json[];
  /** When the databases were destroyed. */
  destroyedAt: Date | undefined;
  /** Seconds from the stop of the services until now that the commands took. */
  outageSeconds(): number;
  timed<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Sends the order with this number. */
  order(number: number): Promise<Order>;
  close(): Promise<void>;
}

export async function openRestoreWorld(bus: "kafka" | "feed"): Promise<RestoreWorld> {
  const postgres = await startArchivedPostgres();
  const stack = await startStack({ bus, postgresUrl: postgres.adminUrl }).catch(async (error: unknown) => {
    await postgres.remove();
    throw error;
  });
  const organisation = await newOrganisation(stack.stack(), "--daily-limit", "1000000000");
  const { api } = organisation;
  const [from, payer] = [await openWallet(api, FIRST_WON), await openWallet(api, FIRST_WON)];
  const to = await openWallet(api, 0);
  const steps: Record<string, number> = {};
  const outageSeconds = (): number => {
    const { backup: _, ...outage } = steps;
    return Math.round(Object.values(outage).reduce((sum, seconds) => sum + seconds, 0));
  };
  return {
    ...{
      stack,
      postgres,
      organisation,
      api,
      wallets: [from, payer, to],
      destroyedAt: undefined,
      outageSeconds,
    },
    async timed(name, work) {
      const startedMs = performance.now();
      try {
        return await work();
      } finally {
        steps[name] = Math.round((performance.now() - startedMs) / 100) / 10;
      }
    },
    order: (number) => sendOrder(api, { from, payer, to }, number),
    async close() {
      const text = JSON.stringify({ ...steps, rto: outageSeconds() });
      if (outageSeconds() > 0)
        process.stdout.write(`a restore with the bus ${bus} took these seconds: ${text}\n`);
      await stack.stop();
      await postgres.remove();
    },
  };
}

async function sendOrder(
  api: Api,
  { from, payer, to }: Record<"from" | "payer" | "to", Json>,
  number: number,
): Promise<Order> {
  const amount = 1_000 + number;
  const bodies: [string, Json][] = [
    ["transfer", { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount }],
    ["payment", { payerWalletId: payer.walletId, receiverWalletId: to.walletId, amount, incentiveAmount: 0 }],
    ["charge", { walletId: from.walletId, amount }],
  ];
  const [name, body] = bodies[number % bodies.length]!;
  const order = { path: `/api/wallets/${name}`, body, key: randomUUID() };
  const data = await api.post(order.path, body, { idempotencyKey: order.key });
  return { ...order, id: idOf(data) };
}

export function idOf({ transferId, paymentId, chargeId }: Json): string {
  return transferId ?? paymentId ?? chargeId;
}

/** Clients send orders until the returned function is called, which returns the orders. */
export function startLoad({ order }: RestoreWorld): () => Promise<Order[]> {
  let running = true;
  const sent: Order[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let turn = client; running; turn += CLIENTS, await sleep(PAUSE_MS)) sent.push(await order(turn));
  });
  return async () => {
    running = false;
    await Promise.all(clients);
    return sent;
  };
}

/** Waits for the settlement of each order, which never changes its transaction. */
export async function untilSettled(
  { api }: RestoreWorld,
  orders: Order[],
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (const order of orders)
    await eventually(
      async () => {
        await meanwhile();
        const { settlement } = await api.get(`${order.path}/${order.id}`);
        expect(settlement.status).toBe("CONFIRMED");
        expect(settlement.txHash).toBe(order.txHash ?? settlement.txHash);
        order.txHash = settlement.txHash;
      },
      { timeoutMs: SETTLED_MS },
    );
}

/** Sends an order again under its key. Returns the id of the answer. */
export async function repeat({ api }: RestoreWorld, { path, body, key }: Order): Promise<string> {
  return idOf(await api.post(path, body, { idempotencyKey: key }));
}

/** Destroys the databases of all services and restores them to this time. No service runs then. */
export async function destroyAndRestore(world: RestoreWorld, time: Date): Promise<void> {
  const { postgres, timed } = world;
  // The gateway stays up, because another stack could take its port. Only this test calls it.
  await timed("stop", () => stopServices(world, SERVICE_NAMES));
  await postgres.destroy();
  world.destroyedAt = new Date();
  await timed("restore", () => postgres.restoreTo(time));
}

export async function stopServices({ stack }: RestoreWorld, names: string[]): Promise<void> {
  for (const name of names) await stack.act("stop", name);
}

export async function startServices({ stack }: RestoreWorld, names: string[]): Promise<void> {
  for (const name of names) await stack.act("start", name);
  await eventually(
    async () => {
      const reports = await stack.statuses();
      expect(reports.filter(({ name, ready }) => names.includes(name) && !ready)).toEqual([]);
    },
    { timeoutMs: SETTLED_MS },
  );
}

/** Verifies until only differences are left that an operator must explain. */
export async function untilCompared({ stack }: RestoreWorld): Promise<Json> {
  let found: Json;
  await eventually(
    async () => {
      found = await wonrailJson(stack, "restore", "verify");
      const waits = found.problems.filter((problem: string) => !problem.includes("not acknowledged"));
      expect(waits).toEqual([]);
    },
    { timeoutMs: SETTLED_MS },
  );
  return found;
}

/** Two operators explain every difference that is listed. */
export async function acknowledgeAll({ stack }: RestoreWorld): Promise<void> {
  for (const { driftId } of await wonrailJson(stack, "drift", "list"))
    expect((await proposeAndApprove(stack, "drift", "ack", "--id", driftId)).code).toBe(0);
}

export async function resume({ stack }: RestoreWorld): Promise<void> {
  const outcome = await proposeAndApprove(stack, "restore", "resume");
  expect(outcome).toMatchObject({ code: 0 });
}

export function chainBalances({ stack, wallets }: RestoreWorld): Promise<Record<string, number>> {
  return balancesOnChain(stack.stack(), wallets);
}

export async function ledgerBalances({ stack, wallets }: RestoreWorld): Promise<Record<string, number>> {
  const ids = wallets.map(({ walletId }) => idToUuid(walletId));
  const rows = await asAdmin(stack.stack(), "ledger", (db) =>
    db.query<{ id: string; balance: bigint }>(sql`
      select id, balance_won as balance from accounts where id = any(${ids}::uuid[])`),
  );
  return Object.fromEntries(rows.map(({ id, balance }) => [uuidToId("wal", id), Number(balance)]));
}

/** The ids of all requests that the ledger knows, without their prefixes. */
export async function knownRequests({ stack }: RestoreWorld): Promise<Set<string>> {
  const rows = await asAdmin(stack.stack(), "ledger", (db) =>
    db.query<{ id: string }>(sql`select id from entries`),
  );
  return new Set(rows.map(({ id }) => id));
}

export async function expectSoundBooks(world: RestoreWorld): Promise<void> {
  expect(await chainBalances(world)).toEqual(await ledgerBalances(world));
  expect(await verifyLedger(world.stack.stack())).toContain("0 violations");
  expect((await reconciled(world.stack.stack())).drifts).toBe(0);
}
