import { type Database } from "@wonrail/kit/db";
import { isId } from "@wonrail/kit/contract/ids";
import { type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";
import { findOperationByKey, type StoredOperation } from "../store/operations";
import { kindOf } from "./flows";

/** No partner has a key with it: neither the gateway nor the door here takes more than printable ASCII. */
const OURS = "§";

/**
 * The key that a request is kept under. Chain-relayer asks under the id of a scheduled record, which the record's owner may have used for something else, or may use
 * when it fails; so what comes with an operation id is kept apart from what comes without. What a release before has taken on under the bare id goes on under that, and a
 * relayer that gives no operation id finds what was begun here: the same record has the same body, which no request of a partner has.
 */
export async function ownKey(db: Database, request: ExecuteRequest): Promise<string | undefined> {
  const { context, idempotencyKey, operationId, bodyHash, command } = request;
  if (idempotencyKey === undefined || (operationId === undefined && !isId("txn", idempotencyKey)))
    return idempotencyKey;
  const ours = OURS + idempotencyKey;
  const isKeptUnder = async (key: string) => {
    const of = { orgId: context!.orgId, kind: kindOf(command!), idempotencyKey: key };
    return (await findOperationByKey(db, of))?.bodyHash.equals(bodyHash) === true;
  };
  if (await isKeptUnder(ours)) return ours;
  return operationId === undefined || (await isKeptUnder(idempotencyKey)) ? idempotencyKey : ours;
}

/** Whether it is a scheduled transfer of chain-relayer's, under the one id that it ever has. Not of what a release before has taken on under the bare key. */
export function isScheduled({ idempotencyKey }: Pick<StoredOperation, "idempotencyKey">): boolean {
  return idempotencyKey?.startsWith(OURS) === true;
}
