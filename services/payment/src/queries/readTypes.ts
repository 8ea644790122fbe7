import { invalidRequest } from "@wonrail/kit/contract/errors";
import { enumValue } from "@wonrail/kit/grpc/client";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";

const TYPE_NAMES = Object.keys(TransactionType).filter(
  (name) => name !== "UNSPECIFIED" && name !== "UNRECOGNIZED",
);

/** Types of transactions by their names. */
export function readTypes(names: string[]): TransactionType[] {
  const unknown = names.filter((name) => !TYPE_NAMES.includes(name));
  if (unknown.length > 0) {
    throw invalidRequest([{ path: "type", message: `must be one or several of ${TYPE_NAMES.join(", ")}` }]);
  }
  return names.map((name) => enumValue(TransactionType, name));
}
