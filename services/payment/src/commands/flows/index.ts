import { assert } from "@wonrail/kit/contract/errors";
import { type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";
import { type Input, type Kind } from "../../domain/operation";
import { cancelCharge } from "./cancelCharge";
import { cancelPayment } from "./cancelPayment";
import { charge } from "./charge";
import { type Facts, type Flow } from "./flow";
import { pay } from "./pay";
import { refund } from "./refund";
import { transfer } from "./transfer";

type Command = NonNullable<ExecuteRequest["command"]>;
type Case = Command["$case"];

const KINDS: Record<Case, Kind> = {
  transfer: "TRANSFER",
  charge: "CHARGE",
  cancelCharge: "CANCEL_CHARGE",
  refund: "REFUND",
  pay: "PAY",
  cancelPayment: "CANCEL_PAYMENT",
};

/** Each flow takes the input of its own kind only, which is why nothing but the kind ever chooses one. */
const FLOWS: Record<Kind, unknown> = {
  TRANSFER: transfer,
  CHARGE: charge,
  CANCEL_CHARGE: cancelCharge,
  REFUND: refund,
  PAY: pay,
  CANCEL_PAYMENT: cancelPayment,
} satisfies Record<Kind, object>;

/** A flow without its types: the kind of the input says which one it is. */
export type AnyFlow = Flow<Case, Input>;

export function kindOf(command: Command): Kind {
  return KINDS[command.$case];
}

export function flowOf({ kind }: Pick<Input, "kind">): AnyFlow {
  const flow = FLOWS[kind];
  assert(flow, `there is a flow for ${kind}`);
  return flow as AnyFlow;
}

export function prepare(facts: Facts, orgId: string, command: Command): Promise<Input> {
  return flowOf({ kind: kindOf(command) }).prepare(facts, orgId, command.value);
}
