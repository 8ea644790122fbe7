import { DomainError, type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { MAX_WON, parseWon, sumWon } from "@wonrail/kit/contract/money";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { type Database, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { enumName, isErrorDetail } from "@wonrail/kit/grpc/client";
import { appendEvents } from "@wonrail/kit/outbox";
import {
  type CreatePayoutRequest,
  type CreatePayoutResponse,
  type NewPayoutRow as RowMessage,
  PayoutMode,
} from "@wonrail/proto/payment/v1/payment";
import { checkWalletId } from "../domain/rules";
import { payoutCreated } from "../events";
import { payoutMessage } from "../queries/payoutMessages";
import { insertPayoutRows, type NewPayoutRow } from "../store/payoutRows";
import { findPayoutByKey, insertPayout, type Payout, type PayoutKey } from "../store/payouts";
import { type Facts } from "./facts";

export interface CreatePayoutDeps {
  db: Database;
  facts: Pick<Facts, "requireWallet">;
  network: string;
}

const MAX_ROWS = 10_000;
/** Problems of one answer. More would not help the reader. */
const MAX_PROBLEMS = 100;

/**
 * Stores a payout with its rows, once for its key. The job posts the rows: nothing moves here. A
 * replay answers the payout as it was made.
 */
export async function createPayout(
  deps: CreatePayoutDeps,
  request: CreatePayoutRequest,
): Promise<CreatePayoutResponse> {
  const key = keyOf(request);
  const replay = await findReplay(deps, request.orgId, key);
  if (replay) return replay;
  const { payout, rows } = readPayout(request);
  checkRehearsals(deps, rows);
  await deps.facts.requireWallet(payout.orgId, payout.fromWalletId);
  const isNew = await tx(deps.db, async (tx) => {
    if (!(await insertPayout(tx, payout, key))) return false;
    insertPayoutRows(tx, payout, rows);
    await appendEvents(tx, [payoutCreated(payout)]);
    await failpoint("payment.payout_storing");
    return true;
  });
  if (isNew) return { payout: payoutMessage(payout), replayed: false };
  return (await findReplay(deps, request.orgId, key))!;
}

function keyOf({ idempotencyKey, bodyHash }: CreatePayoutRequest): PayoutKey | null {
  return idempotencyKey === undefined ? null : { idempotencyKey, bodyHash: Buffer.from(bodyHash) };
}

async function findReplay(
  { db }: CreatePayoutDeps,
  orgId: string,
  key: PayoutKey | null,
): Promise<CreatePayoutResponse | undefined> {
  if (key === null) return undefined;
  const found = await findPayoutByKey(db, orgId, key.idempotencyKey);
  if (!found) return undefined;
  if (!found.bodyHash.equals(key.bodyHash)) throw new DomainError("REQ_003");
  return { payout: payoutMessage({ ...found, ...NOT_BEGUN }), replayed: true };
}

const NOT_BEGUN = {
  status: "PENDING",
  acceptedCount: 0,
  refusedCount: 0,
  skippedCount: 0,
  acceptedWon: 0n,
  completedAt: null,
} as const;

function readPayout(request: CreatePayoutRequest): { payout: Payout; rows: NewPayoutRow[] } {
  const { orgId, fromWalletId, dryRun } = request;
  checkWalletId(fromWalletId);
  const mode = enumName(PayoutMode, request.mode);
  if (mode === undefined) throw invalidRequest([{ path: "mode", message: "must be ATOMIC or BEST_EFFORT" }]);
  if (request.rows.length < 1 || request.rows.length > MAX_ROWS)
    throw invalidRequest([{ path: "rows", message: `must be 1 to ${MAX_ROWS} rows` }]);
  const rows = request.rows.map(readRow);
  checkKeys(rows);
  const totalWon = sumWon(rows.map(({ amountWon }) => amountWon));
  if (totalWon > MAX_WON)
    throw invalidRequest([{ path: "rows", message: `must have amounts of at most ${MAX_WON} in sum` }]);
  const payoutId = newId("pyo");
  const payout = { orgId, payoutId, mode, dryRun, fromWalletId, ...NOT_BEGUN };
  return { payout: { ...payout, totalWon, rowCount: rows.length, createdAt: new Date() }, rows };
}

function readRow(message: RowMessage, index: number) {
  const { toWalletAddress, memo, reference, metadata, idempotencyKey, rehearsedRefusal } = message;
  const path = `rows[${index}].amount`;
  const amountWon = parseWon(message.amountWon, path);
  if (amountWon <= 0n) throw invalidRequest([{ path, message: "must be a positive integer" }]);
  if (rehearsedRefusal && !isErrorDetail(rehearsedRefusal))
    throw invalidRequest([
      {
        path: `rows[${index}].rehearsedRefusal`,
        message: "must have a known code, and an object as details",
      },
    ]);
  return {
    ...{ index, toWalletAddress, amountWon, metadata, memo: memo ?? null, reference: reference ?? null },
    ...{ idempotencyKey: idempotencyKey ?? null, error: rehearsedRefusal ?? null },
  };
}

/** Refuses rehearsals on a main network, where they would look like refusals of real money. */
function checkRehearsals({ network }: CreatePayoutDeps, rows: NewPayoutRow[]): void {
  if (hasSandbox(network)) return;
  const rehearsed = rows.find(({ error }) => error !== null);
  if (rehearsed)
    throw invalidRequest([
      { path: `rows[${rehearsed.index}].memo`, message: "names an outcome, and this network has no sandbox" },
    ]);
}

/** Two rows with one key would be one transfer. */
function checkKeys(rows: NewPayoutRow[]): void {
  const firsts = new Map<string, number>();
  const problems: FieldProblem[] = [];
  for (const { index, idempotencyKey } of rows) {
    if (idempotencyKey === null) continue;
    const first = firsts.get(idempotencyKey);
    if (first === undefined) firsts.set(idempotencyKey, index);
    else
      problems.push({
        path: `rows[${index}].idempotencyKey`,
        message: `is the key of rows[${first}] already`,
      });
  }
  if (problems.length > 0) throw invalidRequest(problems.slice(0, MAX_PROBLEMS));
}
