import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { openBus } from "@wonrail/kit/bus";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { eventually, testLog } from "@wonrail/kit/testing";
import { inheritedEnv, REPOSITORY } from "@wonrail/local/config";
import { OperationConfirmed } from "@wonrail/proto/relayer/events/v1/events";
import { openWallet, OUTSIDE } from "./money/scenes";
import { untilNone } from "./money/onTheirWay";
import { type Api } from "./support/api";
import { asAdmin } from "./support/asAdmin";
import { admin, newOrganisation } from "./support/operators";
import { reconciled } from "./support/reconciled";
import { startStack, type TestStack } from "./support/startStack";

// What the bus has lost is noticed, and sent again or asked for; and what it has from a stranger ends no hold.

jest.setTimeout(600_000);

const HASH = `0x${"f".repeat(64)}`;
const SETTLED = { timeoutMs: 120_000, intervalMs: 200 };

let stack: TestStack;
let api: Api;
let orgCode: string;

beforeAll(async () => {
  stack = await startStack({ bus: "postgres" });
  ({ api, orgCode } = await newOrganisation(stack.stack(), "--incentive-bps", "0"));
});
afterAll(() => stack?.stop());

test("a hold whose event is lost shows, a forged word ends it not, and what is sent again does", async () => {
  const since = new Date().toISOString();
  const { walletId } = await openWallet(api, 10_000);
  await eventually(async () => expect(await operations("CONFIRMED")).toBe(1n), SETTLED);
  await stack.act("stop", "chain-relayer");
  const wanted = { fromWalletId: walletId, toWalletAddress: OUTSIDE, amount: 1_000 };
  const { transferId } = (await api.call("POST", "/api/wallets/transfer", wanted)).body.data as {
    transferId: string;
  };
  await untilNone(stack.stack(), ["events of ledger"], 30_000);
  await loseWhatIsNew("chain-relayer.settlement");
  await stack.act("start", "chain-relayer");
  await stack.untilReady();
  expect((await reconciled(stack.stack())).drifts).toBe(0);
  expect(await operations()).toBe(1n);
  await asAdmin(stack.stack(), "payment", (db) =>
    db.run(sql`update transfers set created_at = now() - interval '2 hours'`),
  );
  expect(await metric("payment_pending_transfers_oldest_seconds")).toBeGreaterThanOrEqual(7_200);

  await forgeConfirmed(transferId);
  await eventually(
    async () => expect(await metric("payment_doubted_transfers_total")).toBeGreaterThan(1),
    SETTLED,
  );
  expect(await statusOf(transferId)).toBe("PENDING");

  const options = ["republish", "--schema", "ledger", "--since", since];
  await promisify(execFile)(process.execPath, [join(REPOSITORY, "kit/bin/outbox.mjs"), ...options], {
    env: { ...inheritedEnv(), DATABASE_URL: stack.stack().postgres.urls.ledger! },
  });
  await eventually(async () => expect(await statusOf(transferId)).toBe("COMPLETED"), SETTLED);
  expect(await operations("CONFIRMED")).toBeGreaterThanOrEqual(2n);
  expect(await metric("payment_pending_transfers_oldest_seconds")).toBe(0);
  expect((await reconciled(stack.stack())).drifts).toBe(0);
});

test("a daily limit whose event is lost is in force while it is used", async () => {
  const [from, to] = [await openWallet(api, 10_000), await openWallet(api, 0)];
  const wanted = { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount: 1 };
  const transfer = () => api.call("POST", "/api/wallets/transfer", wanted);
  expect(await transfer()).toMatchObject({ status: 201 });
  await stack.act("stop", "payment");
  await admin(stack.stack(), "org", "set", "--code", orgCode, "--daily-limit", "0");
  await untilPublished("auth");
  await loseWhatIsNew("payment.policies");
  await stack.act("start", "payment");
  await stack.untilReady();
  await eventually(async () => {
    expect(await transfer()).toMatchObject({ status: 400, body: { error: { code: "TRF_003" } } });
  }, SETTLED);
});

/** Nobody reads it: what the group has not had yet is behind its place in the topic. */
async function loseWhatIsNew(group: string): Promise<void> {
  await asAdmin(stack.stack(), "bus", (db) =>
    db.run(sql`
      update cursors c set position = p.next_position from partitions p
      where p.id = c.partition_id and c.group_name = ${group}`),
  );
}

async function forgeConfirmed(ledgerRef: string): Promise<void> {
  const { orgId } = await asAdmin(stack.stack(), "payment", (db) =>
    db.one<{ orgId: string }>(sql`select org_id as "orgId" from transfers where transfer_id = ${ledgerRef}`),
  );
  const word = { ledgerRef, network: "WON_TESTNET", txHash: HASH, blockNumber: 1n, blockHash: HASH };
  const url = stack.stack().postgres.urls["chain-relayer"]!;
  const bus = await openBus({ kind: "postgres", url, clientId: "stranger", log: testLog() });
  await bus.publish([
    {
      topic: "wonrail.relayer.v1",
      key: ledgerRef,
      value: Buffer.from(OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish()),
      headers: {
        ...{ event_id: newId("evt"), event_type: "operation_confirmed", aggregate_id: ledgerRef },
        ...{ version: "1", occurred_at: new Date().toISOString(), org_id: orgId },
        ...{ traceparent: "", request_id: newId("req") },
      },
    },
  ]);
  await bus.close();
}

/** How many there are, in this state or in all. */
async function operations(state: string | null = null): Promise<bigint> {
  const { count } = await asAdmin(stack.stack(), "chain_relayer", (db) =>
    db.one<{ count: bigint }>(
      sql`select count(*) as count from operations where ${state}::text is null or state = ${state}`,
    ),
  );
  return count;
}

async function untilPublished(schema: string): Promise<void> {
  await asAdmin(stack.stack(), schema, (db) =>
    eventually(
      async () => expect(await db.maybe(sql`select from outbox_pending limit 1`)).toBeUndefined(),
      SETTLED,
    ),
  );
}

async function statusOf(transferId: string): Promise<string> {
  return (await api.get(`/api/wallets/transfer/${transferId}`)).status as string;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://${stack.stack().services.payment!.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(name));
  return Number(line?.split(" ").at(-1));
}
