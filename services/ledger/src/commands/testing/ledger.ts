import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { createTestDatabase, testLog, testRegistry, type TestDatabase } from "@wonrail/kit/testing";
import { hash } from "node:crypto";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { contentOf } from "../../domain/content";
import { seoulDay } from "../../domain/limits";
import type { Intent, LedgerRequest, Outcome, WalletType } from "../../domain/types";
import { getBalances } from "../../queries/getBalances";
import { verifyAll } from "../../queries/verify";
import { createEngine, type Engine, type EngineOptions } from "../engine";
import { createPostedLate, type PostedLate } from "../../store/postedLate";

/** An engine on a database of the test's own. */
export interface TestLedger {
  database: TestDatabase;
  engine: Engine;
  late: PostedLate;
  orgId: string;
  post(intent: Intent, options?: Partial<LedgerRequest>): Promise<Outcome>;
  open(userId?: string, type?: WalletType, won?: bigint): Promise<string>;
  /** What the invariants have to say; nothing, when all is well. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

export const DAILY_LIMIT = won(5_000_000n);
const DAY_MS = 24 * 3_600_000;
const SEOUL_OFFSET_MS = 9 * 3_600_000;
const MIGRATIONS = join(__dirname, "../../../migrations");

export async function startTestLedger(): Promise<TestLedger> {
  const database = await createTestDatabase({ schema: "ledger", migrations: MIGRATIONS });
  const late = createPostedLate(1_000);
  const engine = testEngine({ db: database.db, late });
  const orgId = newId("org");
  const post = (intent: Intent, options: Partial<LedgerRequest> = {}) =>
    postTo(engine, requestOf(orgId, intent, options));
  return {
    database,
    engine,
    late,
    orgId,
    post,
    async open(userId = newId("req"), type = "NORMAL", amount = 0n) {
      const walletId = newId("wal");
      await post({ kind: "openAccount", walletId, userId, type });
      if (amount > 0n) await post({ kind: "charge", walletId, amountWon: won(amount) });
      return walletId;
    },
    async violations() {
      const { results } = await verifyAll(database.db);
      return results.flatMap(({ invariant, violations }) =>
        violations.map(({ what, details }) => `${invariant} ${what}: ${details}`),
      );
    },
    async close() {
      await engine.close();
      await database.drop();
    },
  };
}

/** An engine of which a test gives what it looks at. */
export function testEngine(given: Pick<EngineOptions, "db"> & Partial<EngineOptions>): Engine {
  return createEngine({
    log: testLog(),
    registry: testRegistry(),
    maxBatch: 1_000,
    maxQueue: 20_000,
    late: createPostedLate(1_000),
    ...given,
  });
}

/** One for all tests of a file, after which no invariant may be broken. */
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
  const amountWon = won(amount);
  return { kind: "transfer", fromWalletId, toWalletId, amountWon, dailyLimitWon: DAILY_LIMIT } as const;
}

export function postTo(engine: Engine, request: LedgerRequest): Promise<Outcome> {
  const origin = { requestId: newId("req"), traceparent: "" };
  return engine.post({ request, origin, deadlineMs: Infinity });
}

export function requestOf(
  orgId: string,
  intent: Intent,
  options: Partial<LedgerRequest> = {},
): LedgerRequest {
  const content = { intent, memo: null, relatedId: null, ...options };
  const hex = hash("sha256", contentOf(content), "hex");
  const contentHash = [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(index === 0 ? 0 : ends[index - 1], end))
    .join("-");
  return { orgId, requestId: newId("opn"), requestedAtMs: null, contentHash, ...content };
}

/** Waits for the next day, by the ledger's clock, when this one is over sooner than that. */
export async function stayWithinOneDay(forMs: number): Promise<void> {
  const leftMs = (seoulDay(Date.now()) + 1) * DAY_MS - SEOUL_OFFSET_MS - Date.now();
  if (leftMs < forMs) await sleep(leftMs);
}

/** What an outcome was, in a word: "posted", or the code of the refusal. */
export function codeOf(outcome: Outcome): string {
  return outcome.status === "posted" ? "posted" : outcome.code;
}

export async function balancesOf({ database, orgId }: TestLedger, walletIds: string[]): Promise<bigint[]> {
  return (await getBalances(database.db, orgId, walletIds)).map(({ balanceWon }) => balanceWon);
}

/** The request as it travels. */
export function messageOf({ orgId, requestId, memo, relatedId, intent }: LedgerRequest): PostRequest {
  const context = { orgId, requestId: newId("req"), traceparent: "" };
  return {
    context,
    requestId,
    memo: memo ?? undefined,
    relatedId: relatedId ?? undefined,
    intent: intentMessage(intent),
  };
}

function intentMessage(intent: Intent): PostRequest["intent"] {
  const { kind, ...rest } = intent;
  const value = Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [
      name,
      typeof part === "bigint" ? `${part}` : (part ?? undefined),
    ]),
  );
  if (intent.kind === "openAccount") value.type = AccountType[intent.type];
  return { $case: kind, value } as unknown as PostRequest["intent"];
}
