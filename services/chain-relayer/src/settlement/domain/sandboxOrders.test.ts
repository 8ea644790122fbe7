import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { orderOfMemo } from "./sandboxOrders";

test.each([
  ["sandbox:settlement_failed", IntentKind.PLACE_HOLD, "FAIL"],
  ["sandbox:settlement_held", IntentKind.PLACE_HOLD, "HOLD"],
  ["sandbox:settlement_failed", IntentKind.PAYMENT, "HOLD"],
  ["sandbox:settlement_held", IntentKind.CHARGE, "HOLD"],
  ["sandbox:PAY_001", IntentKind.PAYMENT, undefined],
  ["constructor", IntentKind.PAYMENT, undefined],
  [undefined, IntentKind.PLACE_HOLD, undefined],
])("the memo %s of %s orders %s", (memo, kind, order) => {
  expect(orderOfMemo({ memo, kind })).toBe(order);
});
