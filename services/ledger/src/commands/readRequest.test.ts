import { newId } from "@wonrail/kit/contract/ids";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { readRequest } from "./readRequest";

const nowMs = Date.UTC(2026, 10, 20);
const window = { fromMs: nowMs - 1_000, untilMs: nowMs + 1_000 };
const [walletId, otherWalletId] = [newId("wal"), newId("wal")];

function read(given: Partial<PostRequest>) {
  const message: PostRequest = {
    context: { orgId: newId("org"), requestId: "", traceparent: "" },
    requestId: newId("opn", nowMs),
    intent: { $case: "refund", value: { walletId } },
    ...given,
  };
  return readRequest(message, window);
}

test("when it was asked for is read", () => {
  expect(read({ requestedAt: new Date(nowMs - 5) }).requestedAtMs).toBe(nowMs - 5);
  expect(read({}).requestedAtMs).toBeNull();
});

test("an id is taken from the first moment of the journal until before its last", () => {
  const isTaken = (atMs: number) => {
    try {
      return read({ requestId: newId("opn", atMs) }) !== undefined;
    } catch {
      return false;
    }
  };
  const { fromMs, untilMs } = window;
  expect([fromMs - 1, fromMs, untilMs - 1, untilMs].map(isTaken)).toEqual([false, true, true, false]);
});

test("an accrual rate is at most the whole", () => {
  const paidAt = (accrualRateBps: number) => {
    const wallets = { payerWalletId: walletId, receiverWalletId: otherWalletId };
    return read({ intent: { $case: "payment", value: { ...wallets, amountWon: "100", accrualRateBps } } });
  };
  expect(paidAt(10_000).intent).toMatchObject({ accrualRateBps: 10_000 });
  expect(() => paidAt(10_001)).toThrow(expect.objectContaining({ code: "REQ_001" }));
});

test("the address of a hold is the same however its letters are written", () => {
  const heldFor = (toAddress: string) => {
    const value = { walletId, toAddress, amountWon: "1", dailyLimitWon: "1" };
    return read({ intent: { $case: "placeHold", value } });
  };
  const [upper, lower] = [heldFor(`0x${"AB".repeat(20)}`), heldFor(`0x${"ab".repeat(20)}`)];
  expect(upper.contentHash).toBe(lower.contentHash);
});
