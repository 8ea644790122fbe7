import {
  Freeze as FreezeMessage,
  FreezeSource as FreezeSourceMessage,
} from "@wonrail/proto/ledger/v1/intents";
import { record, walletOf, type Book } from "../../domain/book";
import type { FreezeAccount } from "../../domain/intents";
import type { Freeze, FreezeSource } from "../../domain/accountTypes";
import type { Entry, LedgerRequest } from "../../domain/types";
import { MAX_TEXT, check, checkText, id } from "../fields";
import type { IntentModule } from "../intent";

const FREEZES: Partial<Record<FreezeMessage, Freeze>> = {
  [FreezeMessage.NONE]: "NONE",
  [FreezeMessage.OUTGOING]: "OUTGOING",
  [FreezeMessage.ALL]: "ALL",
};

const SOURCES: Partial<Record<FreezeSourceMessage, FreezeSource>> = {
  [FreezeSourceMessage.CHAIN]: "CHAIN",
  [FreezeSourceMessage.OPERATOR]: "OPERATOR",
};

export const freezeAccount: IntentModule<"freezeAccount"> = {
  poster: "chain-relayer",
  read(value) {
    const freeze = FREEZES[value.freeze];
    const source = SOURCES[value.source];
    check(freeze !== undefined, "freeze", "must be NONE, OUTGOING or ALL");
    check(source !== undefined, "source", "must be CHAIN or OPERATOR");
    checkText(value.reason, "reason", MAX_TEXT);
    const walletId = id("wal", value.walletId, "walletId");
    return { kind: "freezeAccount", walletId, freeze, reason: value.reason, source };
  },
  requiredState: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId, freeze, reason, source }) => [walletId, freeze, reason, source],
  decide: freezeWallet,
};

/**
 * Sets the freeze of one source: the token's blocklist (CHAIN) or an operator. The stricter of the two
 * freezes applies. A closed wallet can be frozen too, and stays frozen when it is reopened.
 */
function freezeWallet(book: Book, request: LedgerRequest, intent: FreezeAccount): Entry {
  const { walletId, freeze, source } = intent;
  const account = walletOf(book, request.orgId, walletId);
  if (source === "CHAIN") account.frozenByChain = freeze;
  else account.frozenByOperator = freeze;
  return { ...record(book, request, [account]), freeze: { walletId, source, freeze } };
}
