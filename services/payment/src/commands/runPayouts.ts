import { hash } from "node:crypto";
import { readAddress } from "@wonrail/kit/contract/address";
import { assert, isRefusal } from "@wonrail/kit/contract/errors";
import { siblingId } from "@wonrail/kit/contract/ids";
import { sumWon, won } from "@wonrail/kit/contract/money";
import { isTransient, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { appendEvents } from "@wonrail/kit/outbox";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import {
  type IdempotencyKey,
  type LedgerServiceService,
  type PostRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { payoutAdvanced } from "../events";
import { listPendingRows, type PayoutRow, type RowOutcome, saveOutcomes } from "../store/payoutRows";
import { endLease, leasePayout, lockPayout, type Payout, savePayout } from "../store/payouts";
import { execute, type ExecuteDeps } from "./execute";
import { type Facts } from "./facts";
import { type Command, readCommand } from "./readCommand";

export interface RunPayoutsDeps extends ExecuteDeps {
  ledger: ExecuteDeps["ledger"] & Pick<PromiseClient<LedgerServiceService>, "postTogether">;
}

const ROWS_PER_STEP = 500;
const MAX_ROWS = 10_000;
/** Longer than a step, so that two replicas rarely do the same work. */
const LEASE_MS = 40_000;
const TOGETHER_TIMEOUT_MS = 30_000;
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * Posts the rows of PENDING payouts to the ledger, one step of a payout at a time. The key of each
 * row follows from the payout and the row, so a repeated step posts no row twice. After a failure
 * the loop goes on with the next payout, and throws at its end.
 */
export async function runPayouts(deps: RunPayoutsDeps, signal?: AbortSignal): Promise<void> {
  const failed: unknown[] = [];
  while (!signal?.aborted) {
    const payout = await leasePayout(deps.db, LEASE_MS);
    if (!payout) break;
    try {
      await takeStep(deps, payout);
    } catch (error) {
      await endLease(deps.db, payout, PAUSE_AFTER_FAILURE_MS);
      // When the ledger or Postgres is away, the next payout would fail too.
      if (isTransient(error)) throw error;
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new Error(`${failed.length} payouts failed`, { cause: failed[0] });
}

function takeStep(deps: RunPayoutsDeps, payout: Payout): Promise<void> {
  const isTogether = payout.dryRun || payout.mode === "ATOMIC";
  return isTogether ? postTogether(deps, payout) : postNextRows(deps, payout);
}

/** BEST_EFFORT: posts the next rows, each by itself. Rows without a known outcome stay PENDING. */
async function postNextRows(deps: RunPayoutsDeps, payout: Payout): Promise<void> {
  const rows = await listPendingRows(deps.db, payout, ROWS_PER_STEP);
  const facts = await factsOf(deps, payout, rows);
  const settled = await Promise.allSettled(rows.map((row) => postRow({ ...deps, facts }, payout, row)));
  await failpoint("payment.payout_posted");
  const outcomes = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  await recordOutcomes(deps, payout, outcomes);
  const failure = settled.find((one) => one.status === "rejected");
  if (failure) throw failure.reason;
}

async function postRow(deps: RunPayoutsDeps, payout: Payout, row: PayoutRow): Promise<RowOutcome> {
  if (row.error) return refused(row, row.error);
  const { orgId } = payout;
  const { scope, key, bodyHash } = keyOfRow(payout, row);
  try {
    const { outcome } = await execute(deps, {
      context: { orgId, requestId: "", traceparent: "" },
      command: commandOf(payout, row),
      ...{ keyScope: scope, idempotencyKey: key, bodyHash, operationId: transferIdOf(payout, row) },
    });
    if (outcome?.$case === "error") return refused(row, outcome.value);
    assert(outcome?.$case === "transfer", "a transfer is answered by a transfer");
    return accepted(row, outcome.value.transferId);
  } catch (error) {
    if (isRefusal(error)) return refused(row, toErrorDetail(error));
    throw error;
  }
}

/** ATOMIC, and every dry run: the ledger decides all rows in one transaction. */
async function postTogether(deps: RunPayoutsDeps, payout: Payout): Promise<void> {
  const rows = await listPendingRows(deps.db, payout, MAX_ROWS);
  const facts = await factsOf(deps, payout, rows);
  const read = await Promise.all(rows.map((row) => readRow(deps, facts, payout, row)));
  const items = read.flatMap((one) => ("request" in one ? [one.request] : []));
  const isComplete = items.length === rows.length;
  // A row without a request refuses the payout. The dry run then finds the refusals of the others.
  const dryRun = payout.dryRun || !isComplete;
  const { outcomes } =
    items.length === 0
      ? { outcomes: [] }
      : await deps.ledger.postTogether({ items, dryRun }, { timeoutMs: TOGETHER_TIMEOUT_MS });
  await failpoint("payment.payout_posted");
  let next = 0;
  const decided = read.map((one, index): RowOutcome => {
    const row = rows[index]!;
    if ("error" in one) return refused(row, one.error);
    const { outcome } = outcomes[next++] ?? {};
    assert(outcome, "the ledger answers each row");
    return outcome.$case === "error" ? refused(row, outcome.value) : accepted(row, outcome.value);
  });
  const isRefused = payout.mode === "ATOMIC" && decided.some(({ status }) => status === "REFUSED");
  const final = decided.map((one) => {
    if (one.status !== "ACCEPTED") return one;
    if (isRefused) return { ...one, status: "SKIPPED" as const, transferId: null };
    return payout.dryRun ? { ...one, transferId: null } : one;
  });
  await recordOutcomes(deps, payout, final);
}

/** Writes outcomes and counts. When every row has its outcome, the payout ends with them. */
async function recordOutcomes({ db }: RunPayoutsDeps, leased: Payout, outcomes: RowOutcome[]): Promise<void> {
  await tx(db, async (tx) => {
    const payout = await lockPayout(tx, leased);
    // Another replica has ended it.
    if (!payout) return;
    const saved = await saveOutcomes(tx, payout, outcomes);
    const of = (status: RowOutcome["status"]) => saved.filter((row) => row.status === status);
    const counts = {
      acceptedCount: payout.acceptedCount + of("ACCEPTED").length,
      refusedCount: payout.refusedCount + of("REFUSED").length,
      skippedCount: payout.skippedCount + of("SKIPPED").length,
    };
    const decided = counts.acceptedCount + counts.refusedCount + counts.skippedCount;
    const isRefused = payout.mode === "ATOMIC" && counts.refusedCount > 0;
    const ended = isRefused ? "REFUSED" : "COMPLETED";
    const acceptedWon = payout.acceptedWon + sumWon(of("ACCEPTED").map(({ amountWon }) => won(amountWon)));
    const status = decided === payout.rowCount ? ended : "PENDING";
    const after = await savePayout(tx, { ...payout, ...counts, acceptedWon, status });
    if (saved.length > 0) await appendEvents(tx, [payoutAdvanced(after)]);
    await failpoint("payment.payout_recording");
  });
}

async function factsOf({ facts }: RunPayoutsDeps, { orgId }: Payout, rows: PayoutRow[]): Promise<Facts> {
  const addresses = rows
    .map(({ toWalletAddress }) => readAddress(toWalletAddress))
    .filter((one) => one !== null);
  const wallets = await facts.walletsAt(orgId, addresses);
  return { ...facts, walletAt: async (_orgId, address) => wallets.get(address) ?? null };
}

/** The request of a row to the ledger, or the refusal of its form or of the sandbox. */
async function readRow(
  { contracts }: RunPayoutsDeps,
  facts: Facts,
  payout: Payout,
  row: PayoutRow,
): Promise<{ request: PostRequest } | { error: ErrorDetail }> {
  if (row.error) return { error: row.error };
  const { orgId } = payout;
  try {
    const command = readCommand(commandOf(payout, row), contracts);
    const request: PostRequest = {
      context: { orgId, requestId: "", traceparent: "" },
      requestId: transferIdOf(payout, row),
      key: keyOfRow(payout, row),
      ...command.notes,
      relatedId: undefined,
      intent: await command.intent(facts, orgId),
    };
    return { request };
  } catch (error) {
    if (isRefusal(error)) return { error: toErrorDetail(error) };
    throw error;
  }
}

function commandOf({ fromWalletId }: Payout, row: PayoutRow): Command {
  const { toWalletAddress, amountWon, memo, reference, metadata } = row;
  const notes = { memo: memo ?? undefined, reference: reference ?? undefined, metadata };
  return {
    $case: "transfer",
    value: { fromWalletId, toWalletAddress, amountWon: amountWon.toString(), ...notes },
  };
}

/** The same on every attempt. */
function transferIdOf({ payoutId }: Payout, { index }: PayoutRow): string {
  return siblingId("trf", payoutId, `row ${index}`);
}

/** Keys of payouts, and keys that partners give to rows, are apart from the keys of transfers. */
function keyOfRow(payout: Payout, row: PayoutRow): IdempotencyKey {
  const { toWalletAddress, amountWon, memo, reference, metadata, index, idempotencyKey } = row;
  const pairs = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
  const content = [payout.fromWalletId, toWalletAddress, amountWon.toString(), memo, reference, pairs];
  const bodyHash = hash("sha256", JSON.stringify(content), "buffer");
  return idempotencyKey === null
    ? { scope: "PAYOUT", key: `${payout.payoutId}.${index}`, bodyHash }
    : { scope: "PAYOUT_ROW", key: idempotencyKey, bodyHash };
}

function accepted({ index }: PayoutRow, transferId: string): RowOutcome {
  return { index, status: "ACCEPTED", transferId, error: null };
}

function refused({ index }: PayoutRow, error: ErrorDetail): RowOutcome {
  return { index, status: "REFUSED", transferId: null, error };
}
