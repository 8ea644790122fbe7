import { hash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@wonrail/kit/contract/ids";
import { MAX_WON, won } from "@wonrail/kit/contract/money";
import { testLog, testRegistry, type TestDatabase } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { AccountType, Freeze, FreezeSource } from "@wonrail/proto/ledger/v1/intents";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { contentOf } from "../../intents";
import { seoulDay } from "../../domain/limits";
import type { Answer } from "../../intents/decide";
import { chargeOf } from "../../domain/testing/requests";
import type { WalletType } from "../../domain/accountTypes";
import type { Intent } from "../../domain/intents";
import type { IdempotencyKey, LedgerRequest, Outcome } from "../../domain/types";
import { getBalances } from "../../queries/getBalances";
import { verifyAll } from "../../queries/verify";
import { createChargeBudget } from "../chargeBudget";
import { createEngine, type Engine, type EngineOptions } from "../engine";

/** An engine on its own database. */
export interface TestLedger {
  database: TestDatabase;
  engine: Engine;
  orgId: string;
  post(intent: Intent, options?: Partial<LedgerRequest>): Promise<Outcome>;
  open(userId?: string, type?: WalletType, won?: bigint): Promise<string>;
  /** Lists the broken invariants. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

export const DAILY_LIMIT = won(5_000_000n);
const DAY_MS = 24 * 3_600_000;
const SEOUL_OFFSET_MS = 9 * 3_600_000;
const MIGRATIONS = join(__dirname, "../../../migrations");

export function startTestLedger(): Promise<TestLedger> {
  return buildWorld(async (parts) => {
    const database = await parts.database({ schema: "ledger", migrations: MIGRATIONS });
    const engine = await parts.use(testEngine({ db: database.db }));
    const orgId = newId("org");
    const post = (intent: Intent, options: Partial<LedgerRequest> = {}) =>
      postTo(engine, requestOf(orgId, intent, options));
    return {
      database,
      engine,
      orgId,
      post,
      async open(userId = newId("req"), type: WalletType = "NORMAL", amount = 0n) {
        const walletId = newId("wal");
        await post({ kind: "openAccount", walletId, userId, type });
        if (amount > 0n) await post(chargeOf(walletId, amount));
        return walletId;
      },
      async violations() {
        const { results } = await verifyAll(database.db);
        return results.flatMap(({ invariant, violations }) =>
          violations.map(({ what, details }) => `${invariant} ${what}: ${details}`),
        );
      },
    };
  });
}

/** Creates an engine with defaults for the options that a test does not give. */
export function testEngine(given: Pick<EngineOptions, "db"> & Partial<EngineOptions>): Engine {
  const limitWon = won(2n ** 62n);
  return createEngine({
    log: testLog(),
    chargeBudget: createChargeBudget({ db: given.db, log: testLog(), limitWon, now: Date.now }),
    registry: testRegistry(),
    queues: 2,
    maxBatch: 1_000,
    maxQueue: 20_000,
    hasSandbox: true,
    ...given,
  });
}

/** Starts a ledger for all tests of a file. At their end no invariant may be broken. */
export function soundLedger(): TestLedger {
  const ledger = {} as TestLedger;
  beforeAll(async () => void Object.assign(ledger, await startTestLedger()));
  afterAll(async () => {
    expect(await ledger.violations()).toEqual([]);
    await ledger.close();
  });
  return ledger;
}

export function transferOf(fromWalletId: string, toWalletId: string, amount: bigint) {
  return {
    kind: "transfer",
    fromWalletId,
    toWalletId,
    toAddress: `0x${"b".repeat(40)}`,
    amountWon: won(amount),
    dailyLimitWon: DAILY_LIMIT,
  } as const;
}

export async function postTo(engine: Engine, request: LedgerRequest): Promise<Outcome> {
  return (await answerTo(engine, request)).outcome;
}

export function answerTo(engine: Engine, request: LedgerRequest): Promise<Answer> {
  const origin = { requestId: newId("req"), traceparent: "" };
  return engine.post({ request, origin, deadlineMs: Infinity });
}

/** A key with its own body, as a caller sends it. */
export function keyOfBody(key: string, body = "body", scope = "PAY"): IdempotencyKey {
  return { scope, key, bodyHash: hash("sha256", body, "hex") };
}

export function requestOf(
  orgId: string,
  intent: Intent,
  options: Partial<LedgerRequest> = {},
): LedgerRequest {
  const content = { intent, memo: null, reference: null, metadata: {}, relatedId: null, ...options };
  const hex = hash("sha256", contentOf(content), "hex");
  const contentHash = [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(index === 0 ? 0 : ends[index - 1], end))
    .join("-");
  return { orgId, requestId: newId("opn"), key: null, contentHash, caller: null, ...content };
}

/** Waits for the ledger's next day when the present one ends too soon. */
export async function stayWithinOneDay(forMs: number): Promise<void> {
  const leftMs = (seoulDay(Date.now()) + 1) * DAY_MS - SEOUL_OFFSET_MS - Date.now();
  if (leftMs < forMs) await sleep(leftMs);
}

/** Returns "posted", or the code of the refusal. */
export function codeOf(outcome: Outcome): string {
  return outcome.status === "posted" ? "posted" : outcome.code;
}

export async function balancesOf({ database, orgId }: TestLedger, walletIds: string[]): Promise<bigint[]> {
  return (await getBalances(database.db, orgId, walletIds)).map(({ balanceWon }) => balanceWon);
}

/** The request as a message. */
export function messageOf(request: LedgerRequest): PostRequest {
  const { orgId, requestId, key, memo, reference, metadata, relatedId, intent } = request;
  const context = { orgId, requestId: newId("req"), traceparent: "" };
  return {
    context,
    requestId,
    key: key === null ? undefined : { ...key, bodyHash: Buffer.from(key.bodyHash, "hex") },
    memo: memo ?? undefined,
    reference: reference ?? undefined,
    metadata,
    relatedId: relatedId ?? undefined,
    intent: intentMessage(intent),
  };
}

function intentMessage(intent: Intent): PostRequest["intent"] {
  const { kind, ...rest } = intent;
  const value = Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [
      name,
      typeof part === "bigint" ? `${part < MAX_WON ? part : MAX_WON}` : (part ?? undefined),
    ]),
  );
  if (intent.kind === "openAccount") value.type = AccountType[intent.type];
  if (intent.kind === "freezeAccount") {
    value.freeze = Freeze[intent.freeze];
    value.source = FreezeSource[intent.source];
  }
  return { $case: kind, value } as unknown as PostRequest["intent"];
}
