import { Payout, PayoutMode, PayoutStatus } from "@wonrail/proto/payment/v1/payment";
import { payoutChange } from "./payouts";

test("the event of a payout has the payout as its object", () => {
  const source = { orgId: "org_1", sourceId: "evt_1", occurredAt: new Date(0) };
  const payout = Payout.fromPartial({
    ...{ payoutId: "pyt_1", status: PayoutStatus.COMPLETED, mode: PayoutMode.BEST_EFFORT },
    ...{ fromWalletId: "wal_1", totalAmountWon: "900", acceptedAmountWon: "700", createdAt: new Date(0) },
  });
  const change = payoutChange(source, payout, "payout.completed");
  expect(change).toMatchObject({ ...source, objectId: "pyt_1", types: ["payout.completed"] });
  expect(change.apply(undefined)).toMatchObject({
    data: { payoutId: "pyt_1", status: "COMPLETED", totalAmount: 900, acceptedAmount: 700 },
    failureReason: null,
  });
});
