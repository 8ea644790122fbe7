import { Freeze as FreezeMessage } from "@wonrail/proto/ledger/v1/intents";
import { record, walletOf, type Book } from "../../domain/book";
import type { Entry, Freeze, LedgerRequest } from "../../domain/types";
import { MAX_TEXT, check, checkText, id } from "../fields";
import type { IntentModule } from "../intent";

export interface FreezeAccount {
  kind: "freezeAccount";
  walletId: string;
  freeze: Freeze;
  reason: string;
}

const FREEZES: Partial<Record<FreezeMessage, Freeze>> = {
  [FreezeMessage.NONE]: "NONE",
  [FreezeMessage.OUTGOING]: "OUTGOING",
  [FreezeMessage.ALL]: "ALL",
};

export const freezeAccount: IntentModule<"freezeAccount"> = {
  poster: "chain-relayer",
  read({ walletId, freeze, reason }) {
    const known = FREEZES[freeze];
    check(known !== undefined, "freeze", "must be a kind of freeze");
    checkText(reason, "reason", MAX_TEXT);
    return { kind: "freezeAccount", walletId: id("wal", walletId, "walletId"), freeze: known, reason };
  },
  touches: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId, freeze, reason }) => [walletId, freeze, reason],
  decide: freeze,
};

/** Freezes a wallet, or ends its freeze. A closed wallet can be frozen too, and stays frozen when it is reopened. */
function freeze(book: Book, request: LedgerRequest, intent: FreezeAccount): Entry {
  const account = walletOf(book, request.orgId, intent.walletId);
  account.frozen = intent.freeze;
  return record(book, request, [account]);
}
