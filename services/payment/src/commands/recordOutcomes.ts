import {
  CommitUnknownError,
  type Database,
  isCheckViolation,
  isTransient,
  isUniqueViolation,
  tx,
  type Tx,
} from "@wonrail/kit/db";
import { assert } from "@wonrail/kit/contract/errors";
import { failpoint } from "@wonrail/kit/failpoint";
import { groupBy } from "@wonrail/kit/groupBy";
import { type Outcome } from "@wonrail/kit/lane";
import { appendEvents, type NewEvent } from "@wonrail/kit/outbox";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { type PostResponse } from "@wonrail/proto/ledger/v1/ledger";
import { ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type Kind, type Operation } from "../domain/operation";
import {
  type Answered,
  findAnswers,
  restoreClaims,
  saveAnswers,
  type StoredOperation,
} from "../store/operations";
import { holdSettlements } from "../store/settlements";
import { type Facts, TooEarlyError } from "./flows/flow";
import { flowOf } from "./flows";

/** What the ledger has decided of an operation. */
export interface Decided {
  operation: StoredOperation;
  entry: PostResponse | { refused: ErrorDetail };
}

export interface RecordDeps {
  db: Database;
  facts: Facts;
}

/** As often as somebody else may write one of them down between a look and what is written then. */
const MAX_LOOKS = 3;

/** Writes down what queued, in one transaction that leaves in one message. Hardly ever is one there already, so nobody looks first. */
export async function recordOutcomes(
  deps: RecordDeps,
  decided: Decided[],
): Promise<Outcome<ExecuteResponse>[]> {
  try {
    return await recordAll(deps, decided, async () => new Map());
  } catch (error) {
    return concernsAll(error) ? failed(decided, error) : recordAfterLooking(deps, decided);
  }
}

/**
 * For when somebody else has written one of them down, or one cannot be written: what is there is left as it is, and at last each goes alone, so that
 * one that cannot be written fails only itself.
 */
async function recordAfterLooking(deps: RecordDeps, decided: Decided[]): Promise<Outcome<ExecuteResponse>[]> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await recordAll(deps, decided, restoreAndFind);
    } catch (error) {
      if (mayBeThere(error) && looks < MAX_LOOKS) continue;
      if (decided.length === 1 || concernsAll(error)) return failed(decided, error);
      const outcomes: Outcome<ExecuteResponse>[] = [];
      for (const one of decided) outcomes.push(...(await recordAfterLooking(deps, [one])));
      return outcomes;
    }
  }
}

/** Hardly ever is a claim lost, too: whoever looks sees to both. */
async function restoreAndFind(tx: Tx, operations: StoredOperation[]): Promise<Map<string, Buffer>> {
  await restoreClaims(tx, operations);
  return findAnswers(tx, operations);
}

async function recordAll(
  { db, facts }: RecordDeps,
  decided: Decided[],
  look: typeof restoreAndFind,
): Promise<Outcome<ExecuteResponse>[]> {
  const answers = await tx(db, (tx) => record(tx, facts, decided, look));
  await failpoint("payment.recorded");
  return answers.map((value) => ({ ok: true, value }));
}

function failed(decided: Decided[], error: unknown): Outcome<ExecuteResponse>[] {
  return decided.map(() => ({ ok: false, error }));
}

/** The database is away or overloaded: one by one they would fare no better. */
function concernsAll(error: unknown): boolean {
  return isTransient(error) && !mayBeThere(error);
}

/** By somebody else, or by the try whose answer was lost; or what it belongs to is not. */
function mayBeThere(error: unknown): boolean {
  return (
    isUniqueViolation(error) ||
    isCheckViolation(error) ||
    error instanceof TooEarlyError ||
    error instanceof CommitUnknownError
  );
}

async function record(
  tx: Tx,
  facts: Facts,
  decided: Decided[],
  look: typeof restoreAndFind,
): Promise<ExecuteResponse[]> {
  const operations = decided.map(({ operation }) => operation);
  const stored = await look(tx, operations);
  // Somebody else has brought it to its end meanwhile, or it stands in this batch twice: the answer is the one that is written down.
  const open = new Map<string, Decided>();
  for (const one of decided) {
    if (!stored.has(one.operation.operationId)) open.set(one.operation.operationId, one);
  }
  const { answered, events } = await recordFresh(tx, facts, [...open.values()]);
  if (answered.length > 0) saveAnswers(tx, answered);
  await appendEvents(tx, events);
  await failpoint("payment.recording");
  const fresh = new Map(answered.map(({ operationId, response }) => [operationId, response]));
  return operations.map(({ operationId }) => {
    const response = fresh.get(operationId);
    if (response) return response;
    const answer = stored.get(operationId);
    assert(answer, `${operationId} has an answer`);
    return ExecuteResponse.decode(answer);
  });
}

/**
 * Every process writes in this order, and rows of one kind in the order of their ids: two with the same operations wait for each other instead of in
 * a circle. Charges come before their cancellations, payments before theirs.
 */
const ORDER = {
  CHARGE: 1,
  PAY: 2,
  TRANSFER: 3,
  REFUND: 4,
  CANCEL_CHARGE: 5,
  CANCEL_PAYMENT: 6,
} satisfies Record<Kind, number>;

const KINDS = (Object.keys(ORDER) as Kind[]).sort((one, other) => ORDER[one] - ORDER[other]);

interface Fresh extends Answered {
  /** What is encoded there. */
  response: ExecuteResponse;
}

async function recordFresh(
  tx: Tx,
  facts: Facts,
  decided: Decided[],
): Promise<{ answered: Fresh[]; events: NewEvent[] }> {
  const answered: Fresh[] = [];
  const events: NewEvent[] = [];
  const posted: { operation: Operation; entry: PostResponse }[] = [];
  for (const { operation, entry } of decided) {
    if ("refused" in entry) {
      const value = await refusalOf(tx, facts, operation, entry.refused);
      answered.push(answer(operation, "REFUSED", { $case: "error", value }));
    } else posted.push({ operation, entry });
  }
  const originals = posted.flatMap(({ operation: { orgId, input } }) => {
    const ledgerRef = flowOf(input).relatedId?.(input);
    return ledgerRef === undefined ? [] : [{ orgId, ledgerRef }];
  });
  // Before any row of its own: who writes settlements holds none of those.
  if (originals.length > 0) holdSettlements(tx, originals);
  const byKind = groupBy(posted, ({ operation }) => operation.input.kind);
  for (const kind of KINDS) {
    const of = byKind.get(kind);
    if (!of) continue;
    const recorded = await flowOf({ kind }).record(tx, of, facts);
    recorded.forEach(({ outcome, event }, index) => {
      answered.push(answer(of[index]!.operation, "DONE", outcome));
      events.push(event);
    });
  }
  return { answered, events };
}

async function refusalOf(
  tx: Tx,
  facts: Facts,
  operation: Operation,
  refused: ErrorDetail,
): Promise<ErrorDetail> {
  return (await flowOf(operation.input).refusal?.(tx, operation, refused, facts)) ?? refused;
}

function answer(
  { orgId, operationId }: Operation,
  state: Answered["state"],
  outcome: NonNullable<ExecuteResponse["outcome"]>,
): Fresh {
  const response = { replayed: false, outcome };
  return { orgId, operationId, state, answer: ExecuteResponse.encode(response).finish(), response };
}
