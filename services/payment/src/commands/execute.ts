import {
  DomainError,
  invalidRequest,
  isRefusal,
  isNotExecuted,
  isOutcomeUnknown,
  asNotExecuted,
  refusedFields,
} from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { type IdPrefix, isId, newId } from "@wonrail/kit/contract/ids";
import { failpoint } from "@wonrail/kit/failpoint";
import { fromErrorDetail, toErrorDetail } from "@wonrail/kit/grpc/server";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import {
  type IdempotencyKey,
  type LedgerServiceService,
  type PostOutcome,
  type PostRequest,
} from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type ContractAddresses } from "../domain/destination";
import { type CommandMetrics } from "../metrics/commandMetrics";
import { answerOf } from "./answerOf";
import { explainRefusal } from "./explainRefusal";
import { type Facts } from "./facts";
import { type Intent, readCommand, type ReadCommand } from "./readCommand";

export interface ExecuteDeps {
  db: Database;
  log: Log;
  facts: Facts;
  contracts: ContractAddresses;
  network: string;
  /** The ledger's bulk call. Requests that queue while a call is in flight share the next call. */
  post: (request: PostRequest) => Promise<PostOutcome>;
  ledger: Pick<PromiseClient<LedgerServiceService>, "findByKey">;
  metrics: CommandMetrics;
}

/** The keys of scheduled transfers are apart from partners' keys. */
const SCHEDULED_SCOPE = "SCHEDULED";

/** A command that the service itself gives has the scope of its keys beside it. */
export interface ScopedRequest extends ExecuteRequest {
  keyScope?: string;
}

/**
 * Executes one command, once for its key. The ledger keeps the key, the decision and the entry in one transaction, and payment
 * writes nothing. A retry asks the ledger again and gets the stored outcome.
 */
export async function execute(deps: ExecuteDeps, request: ScopedRequest): Promise<ExecuteResponse> {
  const command = readCommand(request.command!, deps.contracts);
  const count = deps.metrics.begin(command.scope);
  try {
    const outcome = await decide(deps, request, command);
    count(outcome.outcome?.$case === "error" ? "refused" : outcome.replayed ? "replayed" : "posted");
    return await respond(deps, request, outcome);
  } catch (error) {
    count(isOutcomeUnknown(error) ? "unknown" : isRefusal(error) ? "refused" : "failed");
    throw error;
  }
}

async function decide(deps: ExecuteDeps, request: ScopedRequest, command: ReadCommand): Promise<PostOutcome> {
  const { orgId } = request.context!;
  const key = keyOf(request, command);
  if (request.repeatOnly) return (await findStored(deps, orgId, key)) ?? refuse("WAUTH_004");
  let intent: Intent;
  try {
    intent = await command.intent(deps.facts, orgId);
  } catch (error) {
    // An earlier attempt may have succeeded with the facts of its time.
    const stored = await findStored(deps, orgId, key);
    if (stored) return stored;
    throw asNotExecuted(error);
  }
  return post(deps, request, command, { intent, key });
}

function keyOf(
  { idempotencyKey, bodyHash, operationId, keyScope }: ScopedRequest,
  { scope }: ReadCommand,
): IdempotencyKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  return {
    scope: keyScope ?? (operationId === undefined ? scope : SCHEDULED_SCOPE),
    key: idempotencyKey,
    bodyHash: Buffer.from(bodyHash),
  };
}

/** Reads the stored outcome of the key. Reading changes nothing, so a failure is SYS_002. */
async function findStored(
  { ledger }: ExecuteDeps,
  orgId: string,
  key: IdempotencyKey | undefined,
): Promise<PostOutcome | undefined> {
  if (key === undefined) return undefined;
  try {
    const asked = { orgId, scope: key.scope, key: key.key };
    const { outcome, bodyHash } = await ledger.findByKey(asked, { retry: true });
    if (outcome && !bodyHash.equals(key.bodyHash)) throw new DomainError("REQ_003");
    return outcome && { ...outcome, replayed: true };
  } catch (error) {
    throw asNotExecuted(error);
  }
}

async function post(
  deps: ExecuteDeps,
  request: ScopedRequest,
  command: ReadCommand,
  { intent, key }: { intent: Intent; key: IdempotencyKey | undefined },
): Promise<PostOutcome> {
  const { memo, reference, metadata } = command.notes;
  const asked = {
    context: request.context,
    requestId: readOperationId(request, command.prefix),
    ...{ key, memo, reference, metadata },
    relatedId: command.relatedId,
    intent,
  };
  try {
    await failpoint("payment.posting");
    const outcome = await deps.post(asked);
    await failpoint("payment.posted");
    if (outcome.outcome?.$case !== "error") return outcome;
    return refusedBy(fromErrorDetail(outcome.outcome.value), outcome, request);
  } catch (error) {
    if (isNotExecuted(error) || isOutcomeUnknown(error) || isRefusal(error)) throw error;
    // The ledger failed without a decision on the entry.
    deps.log.error({ err: error, requestId: asked.requestId }, "the outcome of a post is not known");
    throw new DomainError("SYS_003", null, { cause: error });
  }
}

/** Distinguishes a decision of the ledger, which it stored, from a request that it did not take. */
function refusedBy(error: Error, outcome: PostOutcome, { operationId }: ExecuteRequest): PostOutcome {
  if (!isRefusal(error)) throw error;
  const fields = refusedFields(error);
  if (fields.includes("requestId") && operationId !== undefined) {
    const message = "is of a month that has left the ledger's journal";
    throw invalidRequest([{ path: "operationId", message }]);
  }
  // This service chose the id and the intent. The ledger replica is of another release, or lacks the month.
  if (fields.includes("requestId") || fields.includes("intent"))
    throw new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause: error });
  return outcome;
}

async function respond(
  deps: ExecuteDeps,
  { context, command }: ExecuteRequest,
  outcome: PostOutcome,
): Promise<ExecuteResponse> {
  const { orgId } = context!;
  if (outcome.outcome?.$case === "posted") {
    const { value: entry } = outcome.outcome;
    return { replayed: outcome.replayed, outcome: answerOf(orgId, entry, deps.network) };
  }
  const refused = outcome.outcome?.value ?? toErrorDetail(new DomainError("SYS_001"));
  // The wallet service may have lost the INCENTIVE wallet in a failover: the next payment recreates
  // it.
  if (refused.code === "WAL_002" && command?.$case === "pay")
    deps.facts.forgetIncentiveWallet(orgId, command.value.payerWalletId);
  const value = await explainRefusal(deps, orgId, command!, refused);
  return { replayed: outcome.replayed, outcome: { $case: "error", value } };
}

function readOperationId({ operationId }: ExecuteRequest, prefix: IdPrefix): string {
  if (operationId === undefined) return newId(prefix);
  if (!isId(prefix, operationId))
    throw invalidRequest([{ path: "operationId", message: `must be an id of ${prefix}_` }]);
  return operationId;
}

function refuse(code: "WAUTH_004"): never {
  throw new DomainError(code);
}
