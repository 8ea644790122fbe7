import { mayPost } from "./index";
import { type IntentKind } from "../domain/intents";

const POSTED: Record<string, IntentKind[]> = {
  wallet: ["openAccount", "closeAccount", "reopenAccount"],
  payment: [
    ...(["charge", "cancelCharge", "refund", "transfer", "payment", "cancelPayment"] as const),
    ...(["placeHold", "postHold", "voidHold"] as const),
  ],
  "chain-relayer": ["creditExternal", "freezeAccount"],
  gateway: [],
};

test.each(Object.entries(POSTED))("%s may post exactly %j", (caller, kinds) => {
  const all = Object.values(POSTED).flat();
  expect(all.filter((kind) => mayPost(caller, kind))).toEqual(kinds);
});
