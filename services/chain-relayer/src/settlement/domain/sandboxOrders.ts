import { type SettlementOrder, settlementOrderOf } from "@wonrail/kit/contract/sandboxMemos";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";

/** Only a hold can fail, because the ledger has not moved its money. Another operation waits. */
export function orderFor(wanted: SettlementOrder, isHold: boolean): SettlementOrder {
  return isHold ? wanted : "HOLD";
}

/** The outcome that an entry's memo orders. */
export function orderOfMemo({ memo, kind }: Pick<Entry, "memo" | "kind">): SettlementOrder | undefined {
  const wanted = settlementOrderOf(memo);
  return wanted && orderFor(wanted, kind === IntentKind.PLACE_HOLD);
}
