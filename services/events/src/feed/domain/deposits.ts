import { checksummed } from "@wonrail/kit/contract/address";
import { wonJson } from "@wonrail/kit/records";
import { type DepositCredited } from "@wonrail/proto/relayer/events/v1/events";
import { type Change } from "./change";

/** A deposit has no read of its own: the data is the whole of it. */
export function depositCredited(
  source: Pick<Change, "orgId" | "sourceId" | "occurredAt">,
  { ledgerRef, walletId, fromAddress, amountWon, network, txHash, blockNumber }: DepositCredited,
): Change {
  const settlement = { status: "CONFIRMED", network, txHash, blockNumber: Number(blockNumber) };
  const data = {
    ...{ depositId: ledgerRef, walletId, fromAddress: checksummed(fromAddress), amount: wonJson(amountWon) },
    ...{ settlement, createdAt: source.occurredAt.toISOString() },
  };
  return {
    ...source,
    ...{ objectId: ledgerRef, types: ["deposit.credited"] },
    apply: () => ({ data, failureReason: null }),
  };
}
