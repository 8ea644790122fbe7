import { join } from "node:path";
import { type Database, sql } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { implement } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { openTestDatabase, testLog, testRegistry } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import {
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentServiceService,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type TransactionRecord } from "../records/domain/record";
import { getRecord } from "../records/queries/getRecord";
import { FIRST_SENT_PLACE } from "../records/store/records";
import { createRecord, type CreateRecordDeps } from "../records/commands/createRecord";
import { type FinishRecordsDeps } from "../records/commands/finishScheduledRecords";
import { type RunRecordsDeps } from "../records/commands/runScheduledRecords";
import { createScheduledMetrics } from "../records/scheduledMetrics";
import { PAYMENT_MANAGER, TOKEN } from "./chainDouble";

export const WALLET = newId("wal");
export const NORMAL = "0x52908400098527886E0F7030069857D2E4169EE7";
export const INCENTIVE = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
export const OUTSIDE = "0xde709f2102306220921060314715629080e2fb77";
/** Longer than any test; a test that needs the end sets it. */
const LEASE_MS = 60_000;
const CHAIN = { network: "WON_TESTNET", tokenAddress: TOKEN, paymentManagerAddress: PAYMENT_MANAGER };
const now = Date.now;

/** Dependencies of the recording API. */
export function depsForRecords(db: Database): CreateRecordDeps {
  return { db, chain: CHAIN, wallet: { findWalletsByAddress }, now };
}

type Refusal = (request: ExecuteRequest) => ExecuteResponse["outcome"] | null;

/** A world for scheduled records: a database, and fakes of auth, payment and wallet. */
export function schedules() {
  let world: Awaited<ReturnType<typeof openWorld>>;
  let refuse: Refusal | undefined;
  const stopped = new Set<string>();
  const metrics = testRegistry();
  const scheduled = createScheduledMetrics(metrics);
  const paymentDouble = startPayment((request) => refuse?.(request) ?? null);
  const { asked } = paymentDouble;

  const openWorld = () =>
    buildWorld(async (parts) => {
      const migrations = join(__dirname, "../../migrations");
      const database = await parts.database({ schema: "chain_relayer", migrations });
      return { parts, database, payment: await paymentDouble.open(parts) };
    });
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  beforeEach(() => {
    refuse = undefined;
  });

  /** Auth at our edge. */
  const getOrganisation: RunRecordsDeps["auth"]["getOrganisation"] = ({ by }) =>
    Promise.resolve({ organisation: undefined, subscriptionActive: !stopped.has(by!.value) });
  const apiDeps = () => depsForRecords(world.database.db);

  return {
    asked,
    /** Suspended organisations. */
    stopped,
    metrics,
    apiDeps,
    get database() {
      return world.database;
    },
    get payment() {
      return world.payment;
    },
    /** Makes payment refuse by this function until the test's end. */
    refuseBy(refusal: Refusal): void {
      refuse = refusal;
    },
    transferOf(recordId: string): string | undefined {
      const outcome = asked.get(recordId)?.response.outcome;
      return outcome?.$case === "transfer" ? outcome.value.transferId : undefined;
    },
    replica(): RunRecordsDeps {
      const { parts, database, payment } = world;
      const own = openTestDatabase(database.url, "chain_relayer", { max: 4 });
      parts.onClose(() => own.close());
      return {
        ...{ db: own, log: testLog(), payment, wallet: { findWalletsByAddress } },
        ...{ auth: { getOrganisation }, now, scheduled, recordLeaseMs: LEASE_MS },
      };
    },
    walker(): FinishRecordsDeps {
      return { db: world.database.db, now, sentWalk: { after: FIRST_SENT_PLACE } };
    },
    /** Recorded while its time was in the future. */
    async due(orgId: string, change: Record<string, string> = {}): Promise<TransactionRecord> {
      const dueMs = now() - 5_000;
      const fields = {
        fromNetworkType: CHAIN.network,
        toNetworkType: CHAIN.network,
        fromAddress: NORMAL,
        toAddress: OUTSIDE,
        amount: "3000000",
        scheduledAt: new Date(dueMs),
        ...change,
      };
      const deps = { ...apiDeps(), now: () => dueMs - 5_000 };
      return (await createRecord(deps, { orgId, paymentType: "SCHEDULED", fields, key: null })).record;
    },
    /** As when a lease, or the pause before the next try, is over. */
    async makeDue(orgId: string): Promise<void> {
      await world.database.db.run(
        sql`update records set run_at = clock_timestamp() where org_id = ${orgId} and run in ('WAITING', 'STARTED')`,
      );
    },
    async read({ orgId, recordId }: TransactionRecord): Promise<TransactionRecord> {
      return (await getRecord(world.database, { orgId, recordId })).record;
    },
  };
}

/** A fake payment service: executes a transfer once per key, and records its requests. */
function startPayment(refusal: Refusal) {
  const asked = new Map<string, { request: ExecuteRequest; times: number; response: ExecuteResponse }>();

  return {
    asked,
    async open(parts: Parts): Promise<PromiseClient<PaymentServiceService>> {
      const service = implement(PaymentServiceService, {
        execute: (request) => Promise.resolve(executeOnce(request)),
      });
      const { address } = await parts.server([service], { graceMs: 100 });
      return parts.client(PaymentServiceService, address, { name: "payment", defaultTimeoutMs: 20_000 });
    },
  };

  function executeOnce(request: ExecuteRequest): ExecuteResponse {
    const key = request.idempotencyKey!;
    const earlier = asked.get(key);
    if (earlier) {
      earlier.times += 1;
      expect(Buffer.from(earlier.request.bodyHash).equals(Buffer.from(request.bodyHash))).toBe(true);
      return { ...earlier.response, replayed: true };
    }
    const outcome = refusal(request) ?? { $case: "transfer", value: transferFor(request) };
    const response: ExecuteResponse = { replayed: false, outcome };
    asked.set(key, { request, times: 1, response });
    return response;
  }
}

function transferFor({ command }: ExecuteRequest) {
  if (command?.$case !== "transfer") throw new Error("only transfers are scheduled");
  const { fromWalletId, toWalletAddress, amountWon } = command.value;
  const transferId = newId("trf");
  const transfer = {
    transferId,
    status: TransferStatus.COMPLETED,
    fromWalletId,
    toWalletAddress,
    amountWon,
    metadata: {},
  };
  const unset = { toWalletId: undefined, memo: undefined, settlement: undefined, failureReason: undefined };
  return { ...transfer, ...unset, metadata: {}, createdAt: new Date() };
}

/** The wallet service at our edge: two addresses are every organisation's. */
async function findWalletsByAddress({ orgId, addresses }: { orgId: string; addresses: string[] }) {
  const of = { orgId, userId: "user" };
  const all = [
    { ...of, walletId: WALLET, walletType: WalletType.NORMAL, walletAddress: NORMAL },
    { ...of, walletId: newId("wal"), walletType: WalletType.INCENTIVE, walletAddress: INCENTIVE },
  ];
  return { wallets: all.filter(({ walletAddress }) => addresses.includes(walletAddress)) };
}
