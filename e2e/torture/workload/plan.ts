import { seeded } from "@wonrail/kit/testing/random";
import { type OperationName } from "../history";

/**
 * An operation of a client. `choice` and `otherChoice`, from 0 to 1, choose among the objects that
 * the organisation has when the client sends the operation. So the plan does not depend on answers.
 */
export interface PlannedOperation {
  operation: number;
  client: number;
  /** The place of the organisation in the world. */
  organisation: number;
  name: OperationName;
  key: string;
  choice: number;
  otherChoice: number;
  /** Decides variants, such as the kind of a transfer's receiver. */
  variant: number;
  amount: number;
}

export interface WorkloadShape {
  seed: number;
  clients: number;
  organisations: number;
}

const WEIGHTS: Record<OperationName, number> = {
  "wallet.create": 3,
  "wallet.get": 9,
  "wallet.balance": 2,
  "wallet.deactivate": 1,
  charge: 16,
  "charge.cancel": 8,
  refund: 1,
  transfer: 20,
  "transfer.get": 3,
  payment: 19,
  "payment.cancel": 4,
  "payment.refund": 6,
  "payment.get": 3,
  "record.create": 2,
  "record.status": 1,
  "key.create": 0.6,
  "key.revoke": 0.4,
  "webhook.create": 0.2,
  "webhook.update": 0.8,
};
const TOTAL_WEIGHT = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
const SMALLEST_WON = 1_000;
const AMOUNT_RANGE_WON = 9_000;

/** The endless operations of one client. Equal seeds give equal operations. */
export function* planOperations(
  { seed, clients, organisations }: WorkloadShape,
  client: number,
): Generator<PlannedOperation, never> {
  const random = seeded(seed * 1_009 + client);
  for (let turn = 0; ; turn += 1) {
    yield {
      operation: turn * clients + client,
      client,
      organisation: client % organisations,
      name: drawName(random()),
      key: `torture-${seed}-${client}-${turn}`,
      choice: random(),
      otherChoice: random(),
      variant: random(),
      amount: SMALLEST_WON + Math.floor(random() * AMOUNT_RANGE_WON),
    };
  }
}

function drawName(chance: number): OperationName {
  let left = chance * TOTAL_WEIGHT;
  for (const [name, weight] of Object.entries(WEIGHTS)) {
    left -= weight;
    if (left < 0) return name as OperationName;
  }
  return "wallet.get";
}
