import { FreezeSource as SourceMessage, Freeze as FreezeMessage } from "@wonrail/proto/ledger/v1/intents";
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

const SOURCES: Partial<Record<SourceMessage, FreezeSource>> = {
  [SourceMessage.CHAIN]: "CHAIN",
  [SourceMessage.OPERATOR]: "OPERATOR",
};

export const freezeAccount: IntentModule<"freezeAccount"> = {
  poster: "chain-relayer",
  read(value) {
    const [freeze, source] = [FREEZES[value.freeze], SOURCES[value.source]];
    check(freeze !== undefined, "freeze", "must be a kind of freeze");
    check(source !== undefined, "source", "must be a source of freezes");
    checkText(value.reason, "reason", MAX_TEXT);
    const walletId = id("wal", value.walletId, "walletId");
    return { kind: "freezeAccount", walletId, freeze, reason: value.reason, source };
  },
  requiredState: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId, freeze, reason, source }) => [walletId, freeze, reason, source],
  decide: freezeWallet,
};

/**
 * Sets the freeze of one source. A closed wallet can be frozen too, and stays frozen when it is
 * reopened.
 */
function freezeWallet(book: Book, request: LedgerRequest, intent: FreezeAccount): Entry {
  const { walletId, freeze, source } = intent;
  const account = walletOf(book, request.orgId, walletId);
  if (source === "CHAIN") account.frozenByChain = freeze;
  else account.frozenByOperator = freeze;
  return record(book, request, [account]);
}
