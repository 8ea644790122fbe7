import {
  DomainError,
  invalidRequest,
  isRefusal,
  isUndone,
  isUnknown,
  nothingDone,
  perhapsDone,
  refusedFields,
} from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { failpoint } from "@wonrail/kit/failpoint";
import { type IdPrefix, isId, newId } from "@wonrail/kit/contract/ids";
import { childTraceparent } from "@wonrail/kit/context";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import {
  type LedgerServiceService,
  type PostRequest,
  type PostResponse,
  RequestPlace,
} from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteRequest, ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type Database } from "@wonrail/kit/db";
import { type Lane } from "@wonrail/kit/lane";
import { type Input, KIND_PREFIX } from "../domain/operation";
import {
  type Claim,
  type Claimed,
  findOperationByKey,
  forgetOperation,
  releaseOperation,
  type StoredOperation,
} from "../store/operations";
import { type Facts } from "./flows/flow";
import { flowOf, kindOf, prepare } from "./flows";
import { isScheduled, ownKey } from "./ownKey";
import { type Decided } from "./recordOutcomes";

export interface ExecuteDeps {
  db: Database;
  log: Log;
  facts: Facts;
  /** Writes down who took which key; gives what was found under keys that were taken. */
  claims: Lane<Claim, Claimed>;
  /** The ledger's bulk call, shared with everything that queued meanwhile. */
  post: (request: PostRequest) => Promise<PostResponse>;
  ledger: Pick<PromiseClient<LedgerServiceService>, "findRequest">;
  /** Writes down outcomes; gives the answer, also where one was there already. */
  outcomes: Lane<Decided, ExecuteResponse>;
}

/**
 * Does one command, once for its key: claim the key → post to the ledger under the claimed id → record. Every step may be repeated by a retry, by
 * another replica or by the completer: the id is the same, so the ledger answers the same, and the record is written by the first.
 */
export async function execute(deps: ExecuteDeps, asked: ExecuteRequest): Promise<ExecuteResponse> {
  const request = { ...asked, idempotencyKey: await ownKey(deps.db, asked) };
  const orgId = request.context!.orgId;
  if (request.repeatOnly) await requireBegun(deps, request);
  const input = await prepareOrReplay(deps, request);
  if ("answer" in input) return replay(input, request);

  const claimed = await deps.claims.submit({
    orgId,
    operationId: readOperationId(request, KIND_PREFIX[input.kind]),
    idempotencyKey: request.idempotencyKey ?? null,
    bodyHash: Buffer.from(request.bodyHash),
    input,
    requestId: request.context!.requestId,
    traceparent: request.context!.traceparent || childTraceparent(),
  });
  if (request.repeatOnly && (await isLetGo(deps, claimed))) throw new DomainError("WAUTH_004");
  if (claimed.answer !== null || !claimed.bodyHash.equals(request.bodyHash)) return replay(claimed, request);
  // It was begun before, and is the same operation: the plan has counted it then.
  return { ...(await finish(deps, claimed)), replayed: claimed.isBegun };
}

function readOperationId({ operationId }: ExecuteRequest, prefix: IdPrefix): string {
  if (operationId === undefined) return newId(prefix);
  if (!isId(prefix, operationId))
    throw invalidRequest([{ path: "operationId", message: `must be an id of ${prefix}_` }]);
  return operationId;
}

/** Posts and records an operation that was claimed, by whomever. */
export async function finish(deps: ExecuteDeps, operation: Claimed): Promise<ExecuteResponse> {
  const entry = await postOrRefuse(deps, operation);
  await failpoint("payment.posted");
  try {
    return await deps.outcomes.submit({ operation, entry });
  } catch (error) {
    throw stillOpen(deps, operation, error);
  }
}

/**
 * Whatever went wrong, the operation is open and will be brought to its end: who is told anything else takes it for failed, and begins it anew. What is none
 * of the ways in which a call or a commit gets lost is a fault of ours.
 */
function stillOpen({ log }: ExecuteDeps, { operationId }: Claimed, error: unknown): DomainError {
  const told = perhapsDone(error);
  if (isUnknown(told)) return told;
  log.error({ operationId, err: error }, "an operation is left open by a fault");
  return new DomainError("SYS_003", null, { cause: error });
}

/** When the facts cannot be had or have changed, a key that was used before still gets its answer, or is brought to its end. */
async function prepareOrReplay(deps: ExecuteDeps, request: ExecuteRequest): Promise<Input | StoredOperation> {
  try {
    return await prepare(deps.facts, request.context!.orgId, request.command!);
  } catch (error) {
    const earlier = await findEarlier(deps, request);
    if (earlier && !earlier.bodyHash.equals(request.bodyHash)) throw new DomainError("REQ_003");
    // Nobody has begun it, or it was let go: only its facts were asked for.
    if (!earlier || earlier.isReleased) throw nothingDone(error);
    // What was taken up once goes on as it was understood then.
    return earlier.answer === null ? earlier.input : earlier;
  }
}

/** What was let go would be begun anew. */
async function requireBegun(deps: ExecuteDeps, request: ExecuteRequest): Promise<void> {
  const earlier = await findEarlier(deps, request);
  if (!earlier || earlier.isReleased) throw new DomainError("WAUTH_004");
}

/** Who had it has let it go since it was looked for: it is let go again. */
async function isLetGo({ db }: ExecuteDeps, claimed: Claimed): Promise<boolean> {
  return claimed.aloneSince !== null && (await release(db, claimed));
}

async function findEarlier(
  { db }: ExecuteDeps,
  { context, idempotencyKey, command }: ExecuteRequest,
): Promise<StoredOperation | undefined> {
  if (idempotencyKey === undefined) return undefined;
  return findOperationByKey(db, { orgId: context!.orgId, kind: kindOf(command!), idempotencyKey });
}

function replay(earlier: StoredOperation, request: ExecuteRequest): ExecuteResponse {
  if (!earlier.bodyHash.equals(request.bodyHash)) throw new DomainError("REQ_003");
  return { ...ExecuteResponse.decode(earlier.answer!), replayed: true };
}

async function postOrRefuse(deps: ExecuteDeps, operation: Claimed): Promise<Decided["entry"]> {
  const { orgId, operationId, input, requestId, traceparent, createdAt } = operation;
  const flow = flowOf(input);
  try {
    return await deps.post({
      context: { orgId, requestId, traceparent },
      requestId: operationId,
      memo: input.memo ?? undefined,
      relatedId: flow.relatedId?.(input),
      requestedAt: createdAt,
      intent: flow.intent(input),
    });
  } catch (error) {
    const ofForm = refusedForm(error);
    if (isRefusal(error) && !isOthers(error) && !ofForm) return { refused: toErrorDetail(error) };
    if (ofForm === "requestId" && isScheduled(operation)) return refuseTooLate(deps, operation, error);
    const letGo = ofForm === "requestId" ? forgetOperation : releaseOperation;
    if (!(isUndone(error) || ofForm) || !(await release(deps.db, operation, letGo)))
      throw stillOpen(deps, operation, error);
    // The caller's request is none the worse for it.
    throw isUndone(error) ? error : new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause: error });
  }
}

/**
 * A scheduled transfer has one id for ever, so letting go of it brings no other. It is refused when the ledger has never decided it and never will; anything else leaves
 * it open: it may have been posted, or another replica may take it.
 */
async function refuseTooLate(
  deps: ExecuteDeps,
  operation: Claimed,
  error: unknown,
): Promise<Decided["entry"]> {
  const { orgId, operationId } = operation;
  const found = await deps.ledger.findRequest({ orgId, requestId: operationId }).catch(() => undefined);
  if (found?.place !== RequestPlace.NOWHERE) throw stillOpen(deps, operation, error);
  const message = "is of a month that has left the ledger's journal without it";
  return { refused: toErrorDetail(invalidRequest([{ path: "operationId", message }])) };
}

/** The ledger has something else under the id, or a replica of another release reads the request otherwise: somebody has to look. */
function isOthers(error: DomainError): boolean {
  return error.code === "REQ_003";
}

/**
 * Refused at the ledger's door, where another try may have got in: the journal does not reach the id's month, or no longer; a replica of another release
 * does not know the intent. Of what was done under the id that says nothing. Who is alone with the operation lets it go, and its id with it where that is
 * what the ledger does not take; otherwise it stays open, and its alert calls for somebody who looks.
 */
function refusedForm(error: unknown): "requestId" | "intent" | undefined {
  const refused = refusedFields(error);
  return (["requestId", "intent"] as const).find((name) => refused.includes(name));
}

/**
 * Lets go of an operation that the ledger has certainly not seen, so that the completer leaves it alone. False when that is not certain, since
 * somebody else has taken it up before or meanwhile, or when it cannot be written down.
 */
async function release(
  db: Database,
  operation: Claimed,
  letGo: typeof releaseOperation = releaseOperation,
): Promise<boolean> {
  try {
    return operation.aloneSince !== null && (await letGo(db, operation, operation.aloneSince));
  } catch {
    return false;
  }
}
