import { findEndings } from "./findEndings";

const HOLD = "INTENT_KIND_PLACE_HOLD";
const PAYMENT = "INTENT_KIND_PAYMENT";

test.each([
  ["an unreadable entry", PAYMENT, "BLOCKED", "unreadable", ["read_again", "pass_over"]],
  ["an entry whose name is taken", PAYMENT, "PLANNED", "name_taken", ["settled_elsewhere", "sign_anew"]],
  [
    "a hold whose name is taken",
    HOLD,
    "PLANNED",
    "name_taken",
    ["settled_elsewhere", "give_up", "sign_anew"],
  ],
  ["an entry with another signature", PAYMENT, "PLANNED", "custody_signed_otherwise", ["settled_elsewhere"]],
  [
    "a hold with another signature",
    HOLD,
    "PLANNED",
    "custody_signed_otherwise",
    ["settled_elsewhere", "give_up"],
  ],
  ["an entry that waits for its turn", PAYMENT, "WAITING", null, []],
  ["a refused entry that is retried", PAYMENT, "PLANNED", "AccountBlocked", []],
  ["an entry in flight", PAYMENT, "IN_FLIGHT", "name_taken", []],
])("%s has its ways out", (_what, kind, state, waitReason, endings) => {
  expect(findEndings({ kind, state, waitReason })).toEqual(endings);
});
