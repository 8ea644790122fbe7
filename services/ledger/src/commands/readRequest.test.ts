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
    metadata: {},
    intent: { $case: "refund", value: { walletId } },
    ...given,
  };
  return readRequest(message, window, null);
}

test("an idempotency key is read with its scope and the hash of the body", () => {
  const bodyHash = Buffer.alloc(32, 7);
  expect(read({ key: { scope: "PAY", key: "k 1", bodyHash } }).key).toEqual({
    scope: "PAY",
    key: "k 1",
    bodyHash: bodyHash.toString("hex"),
  });
  expect(read({}).key).toBeNull();
});

test.each<[string, Partial<PostRequest>]>([
  ["a scope in small letters", { key: { scope: "pay", key: "k", bodyHash: Buffer.alloc(32) } }],
  ["an empty key", { key: { scope: "PAY", key: "", bodyHash: Buffer.alloc(32) } }],
  ["a key of 256 characters", { key: { scope: "PAY", key: "k".repeat(256), bodyHash: Buffer.alloc(32) } }],
  ["a key with a letter beyond ASCII", { key: { scope: "PAY", key: "키", bodyHash: Buffer.alloc(32) } }],
  ["a hash of 31 bytes", { key: { scope: "PAY", key: "k", bodyHash: Buffer.alloc(31) } }],
  ["a reference of 101 characters", { reference: "r".repeat(101) }],
  ["a reference with NUL", { reference: "a\0" }],
  ["11 pairs of metadata", { metadata: Object.fromEntries([...Array(11)].map((_, i) => [`k${i}`, "v"])) }],
  ["a metadata value of 501 characters", { metadata: { k: "v".repeat(501) } }],
  ["a metadata value with NUL", { metadata: { k: "\0" } }],
])("refuses %s", (_what, given) => {
  expect(() => read(given)).toThrow(expect.objectContaining({ code: "REQ_001" }));
});

test("an id is accepted from the journal's first moment until before its last", () => {
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

test("an accrual rate is at most 100 %", () => {
  const paidAt = (accrualRateBps: number) => {
    const wallets = { payerWalletId: walletId, receiverWalletId: otherWalletId };
    return read({ intent: { $case: "payment", value: { ...wallets, amountWon: "100", accrualRateBps } } });
  };
  expect(paidAt(10_000).intent).toMatchObject({ accrualRateBps: 10_000 });
  expect(() => paidAt(10_001)).toThrow(expect.objectContaining({ code: "REQ_001" }));
});

test("the address of a hold is read in any letter case", () => {
  const heldFor = (toAddress: string) => {
    const value = { walletId, toAddress, amountWon: "1", dailyLimitWon: "1" };
    return read({ intent: { $case: "placeHold", value } });
  };
  const [upper, lower] = [heldFor(`0x${"AB".repeat(20)}`), heldFor(`0x${"ab".repeat(20)}`)];
  expect(upper.contentHash).toBe(lower.contentHash);
});
