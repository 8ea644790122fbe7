import { type NewEvent } from "@wonrail/kit/outbox";
import { DepositCredited } from "@wonrail/proto/relayer/events/v1/events";
import { TOPIC } from "../events";
import { type SeenDeposit } from "./store/deposits";

export function depositCredited(deposit: SeenDeposit & { changedAt: Date }, network: string): NewEvent {
  const { orgId, ledgerRef, amountWon } = deposit;
  const payload = DepositCredited.encode({ ...deposit, amountWon: amountWon.toString(), network }).finish();
  return { topic: TOPIC, type: "deposit_credited", aggregateId: ledgerRef, version: 1n, orgId, payload };
}
