import { type IntentKind } from "./types";

/**
 * Whose business each intent is. Who may call the posting methods at all is in proto/callers.json, which the server sees to; this is the same for
 * what they carry.
 */
const POSTERS: Record<IntentKind, string> = {
  openAccount: "wallet",
  closeAccount: "wallet",
  reopenAccount: "wallet",
  freezeAccount: "chain-relayer",
  charge: "payment",
  cancelCharge: "payment",
  refund: "payment",
  transfer: "payment",
  payment: "payment",
  cancelPayment: "payment",
  placeHold: "payment",
  postHold: "payment",
  voidHold: "payment",
  creditExternal: "chain-relayer",
};

/** Without mutual TLS nobody has a name, and everybody may. */
export function mayPost(caller: string | undefined, kind: IntentKind): boolean {
  return caller === undefined || POSTERS[kind] === caller;
}
