/**
 * Each kind of intent has a folder: its poster, its message, its required state, its content for
 * comparison, its rule, and its model for the property tests. A new kind needs a folder, its type in
 * domain/intents.ts, a line here, one in store/codes.ts and one in domain/testing/model.ts.
 */
import { cancelCharge } from "./cancelCharge/cancelCharge";
import { cancelPayment } from "./cancelPayment/cancelPayment";
import { charge } from "./charge/charge";
import { closeAccount } from "./closeAccount/closeAccount";
import { creditExternal } from "./creditExternal/creditExternal";
import { freezeAccount } from "./freezeAccount/freezeAccount";
import { openAccount } from "./openAccount/openAccount";
import { payment } from "./payment/payment";
import { placeHold } from "./placeHold/placeHold";
import { postHold } from "./postHold/postHold";
import { refund } from "./refund/refund";
import { refundPayment } from "./refundPayment/refundPayment";
import { reopenAccount } from "./reopenAccount/reopenAccount";
import { transfer } from "./transfer/transfer";
import { voidHold } from "./voidHold/voidHold";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import type { Book } from "../domain/book";
import type { Intent, IntentKind } from "../domain/intents";
import type { Entry, LedgerRequest, RequestNotes } from "../domain/types";
import type { IntentModule, RequiredState } from "./intent";

const INTENTS: { [K in IntentKind]: IntentModule<K> } = {
  openAccount,
  closeAccount,
  reopenAccount,
  freezeAccount,
  charge,
  cancelCharge,
  refund,
  transfer,
  payment,
  cancelPayment,
  refundPayment,
  placeHold,
  postHold,
  voidHold,
  creditExternal,
};

/** Without mutual TLS a caller has no name, and may post everything. */
export function mayPost(caller: string | undefined, kind: IntentKind): boolean {
  return caller === undefined || INTENTS[kind].poster === caller;
}

/** The services that may post each kind of intent. Operators' freezes come from the ledger itself. */
export function listPosters(): [kind: IntentKind, poster: string][] {
  const posters = Object.entries(INTENTS).map(([kind, { poster }]): [IntentKind, string] => [
    kind as IntentKind,
    poster,
  ]);
  return [...posters, ["freezeAccount", "ledger"]];
}

export function readIntent(message: PostRequest["intent"]): Intent {
  const module = message && moduleOf(message.$case);
  if (!module) throw invalidRequest([{ path: "intent", message: "is missing or unknown to this release" }]);
  return module.read(message.value);
}

export function requiredStateOf({ intent }: LedgerRequest): RequiredState {
  return moduleOf(intent.kind).requiredState(intent);
}

/** The parts that distinguish two requests, as text. */
export function contentOf({
  intent,
  memo,
  reference,
  metadata,
  relatedId,
}: Pick<LedgerRequest, "intent"> & RequestNotes): string {
  const parts = moduleOf(intent.kind).content(intent);
  const pairs = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([intent.kind, ...parts, memo, reference, pairs, relatedId]);
}

export function decideIntent(book: Book, request: LedgerRequest): Entry {
  return moduleOf(request.intent.kind).decide(book, request, request.intent);
}

/**
 * The kinds of the module and of its argument are equal, which the type system cannot express here.
 */
function moduleOf(kind: IntentKind): IntentModule<IntentKind> {
  return INTENTS[kind] as unknown as IntentModule<IntentKind>;
}
