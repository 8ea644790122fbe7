import { DomainError } from "@wonrail/kit/contract/errors";
import { type SettlementOrder } from "@wonrail/kit/contract/sandboxMemos";
import { type Database, tx } from "@wonrail/kit/db";
import { orderFor } from "../domain/sandboxOrders";
import { isHold, type Operation, type OperationKey } from "../store/operations";
import { deleteOrder, lockOperation, saveOrder } from "../store/sandboxOrders";

export interface OrderedSettlement extends OperationKey {
  order: SettlementOrder | "RELEASE";
}

/** Settlement's word for the states in which nothing can be ordered any more. */
const ENDED: Partial<Record<Operation["state"], string>> = {
  IN_FLIGHT: "SUBMITTED",
  CONFIRMED: "CONFIRMED",
  PASSED: "CONFIRMED",
  FAILED: "FAILED",
  BLOCKED: "BLOCKED",
};

/**
 * Holds, fails or releases a settlement that is not sent, for the sandbox. Only a hold can fail,
 * because only a hold's money can stay where it is. Every other settlement waits instead.
 */
export function orderSettlement(
  { db }: { db: Database },
  { order, ...key }: OrderedSettlement,
): Promise<"HELD" | "FAILING" | "RELEASED"> {
  return tx(db, async (tx) => {
    const operation = await lockOperation(tx, key);
    if (!operation) throw new DomainError("SBX_001");
    const state = ENDED[operation.state];
    if (state !== undefined) throw new DomainError("SBX_002", { state });
    if (order === "RELEASE") {
      await deleteOrder(tx, key);
      return "RELEASED";
    }
    const possible = orderFor(order, isHold(operation));
    // A hold that was about to fail gets its place in the queue back.
    await deleteOrder(tx, key);
    await saveOrder(tx, { ...key, order: possible });
    return possible === "FAIL" ? "FAILING" : "HELD";
  });
}
