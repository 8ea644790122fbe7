import { currentContext } from "@wonrail/kit/context";
import { assert } from "@wonrail/kit/contract/errors";
import { failpoint } from "@wonrail/kit/failpoint";
import { fromErrorDetail } from "@wonrail/kit/grpc/client";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { type Clients } from "../clients";
import { bodyHash } from "./bodyHash";
import { type Call, RepeatedRefusal } from "./operation";

type Command = NonNullable<ExecuteRequest["command"]>;
type Outcome = NonNullable<ExecuteResponse["outcome"]>;
type Done = Exclude<Outcome["$case"], "error">;
type ValueOf<D extends Done> = { [O in Outcome as O["$case"]]: O["value"] }[D];

/** For a request without a key, which has no earlier body to compare. */
const NO_HASH = Buffer.alloc(32);

/** Executes a command in the payment service, once per Idempotency-Key. */
export async function executeCommand<D extends Done>(
  { executePayment }: Pick<Clients, "executePayment">,
  { idempotencyKey, repeatOnly }: Call,
  request: { body: object; command: Command; expect: D },
): Promise<{ value: ValueOf<D>; replayed: boolean }> {
  const context = currentContext();
  assert(context?.orgId, "a command belongs to an organisation");
  await failpoint("gateway.calling");
  const { outcome, replayed } = await executePayment(
    {
      context: { requestId: context.requestId, traceparent: context.traceparent, orgId: context.orgId },
      idempotencyKey,
      bodyHash: idempotencyKey === undefined ? NO_HASH : bodyHash(request.body),
      repeatOnly,
      command: request.command,
    },
    // A retry is safe with a key: it replays the first attempt's answer.
    idempotencyKey === undefined ? {} : { retry: true },
  );
  await failpoint("gateway.answered");
  if (outcome?.$case === "error") {
    const refusal = fromErrorDetail(outcome.value);
    throw replayed ? new RepeatedRefusal(refusal) : refusal;
  }
  assert(outcome?.$case === request.expect, "a command is answered by its own outcome");
  return { value: outcome.value as ValueOf<D>, replayed };
}
