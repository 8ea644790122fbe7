import { ListObjectEventsRequest } from "@wonrail/proto/events/v1/admin";
import { type ReplayWebhookRequest } from "@wonrail/proto/events/v1/events";
import { ListWalletTransactionsRequest } from "@wonrail/proto/payment/v1/payment";
import { MAX_INT64 } from "../../maxInt64";
import { checkFields } from "./checkFields";

/** The field 4, `from`, with 2^62 seconds: more than a Date can hold. */
const FROM_OUTSIDE_DATE = Buffer.from([0x22, 10, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40]);

const objectEvents = (afterSequence: bigint) =>
  ListObjectEventsRequest.decode(ListObjectEventsRequest.encode(listOf(afterSequence)).finish());
const listOf = (afterSequence: bigint): ListObjectEventsRequest => ({
  ...{ operator: undefined, orgId: "org", objectId: "chg", afterSequence, limit: 1 },
});
const statementFrom = (from: Date) =>
  ListWalletTransactionsRequest.decode(
    ListWalletTransactionsRequest.encode({ orgId: "", walletId: "", types: ["PAYMENT"], from }).finish(),
  );
const replayUpTo = (upTo: bigint): ReplayWebhookRequest => ({
  ...{ orgId: "", webhookId: "", wanted: { $case: "range", value: { after: 0n, upTo } } },
  bodyHash: Buffer.alloc(32),
});
const bulkWithDeadline = (deadline: Date) => ({
  items: [{ context: undefined }, { context: { orgId: "", deadline } }],
});

test.each<[what: string, path: string, request: () => unknown]>([
  ["a cursor of 2^63", "afterSequence", () => objectEvents(MAX_INT64 + 1n)],
  ["a cursor of 2^64 - 1", "afterSequence", () => objectEvents(2n ** 64n - 1n)],
  ["a number in a oneof", "wanted.range.upTo", () => replayUpTo(2n ** 63n)],
  ["a time outside Date", "from", () => ListWalletTransactionsRequest.decode(FROM_OUTSIDE_DATE)],
  ["a time in the year 10000", "from", () => statementFrom(new Date("+010000-01-01T00:00:00Z"))],
  ["a time in the year 0", "from", () => statementFrom(new Date("0000-12-31T23:59:59Z"))],
  ["a time in a list", "items[1].context.deadline", () => bulkWithDeadline(new Date(Number.NaN))],
])("%s is refused as REQ_001 and names the field %s", (_what, path, request) => {
  const refusal = { code: "REQ_001", details: { fields: [{ path, message: expect.any(String) }] } };
  expect(() => checkFields(request())).toThrow(expect.objectContaining(refusal));
});

test.each<[what: string, request: () => unknown]>([
  ["the largest cursor", () => objectEvents(MAX_INT64)],
  ["a negative number", () => ({ driftId: -(2n ** 63n) })],
  ["the first time", () => statementFrom(new Date("0001-01-01T00:00:00Z"))],
  ["the last time", () => statementFrom(new Date("9999-12-31T23:59:59.999Z"))],
  ["bytes", () => replayUpTo(1n)],
  ["a message without fields", () => ({})],
])("%s is accepted", (_what, request) => {
  expect(() => checkFields(request())).not.toThrow();
});
