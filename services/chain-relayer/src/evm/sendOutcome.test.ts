import { RpcRefusal, RpcUnanswered } from "./rpc";
import { sendOutcomeOf } from "./sendOutcome";

test.each([
  ["already known", "known"],
  ["AlreadyKnown", "unclear"],
  ["Known transaction", "known"],
  ["unknown transaction type", "unclear"],
  ["nonce too low: next nonce 5, tx nonce 4", "nonce_used"],
  ["Transaction nonce is too low. Try incrementing the nonce.", "nonce_used"],
  ["replacement transaction underpriced", "underpriced"],
  ["insufficient funds for gas * price + value", "no_funds"],
  ["max fee per gas less than block base fee", "fee_too_low"],
  ["transaction underpriced", "fee_too_low"],
  ["exceeds block gas limit", "unacceptable"],
  ["oversized data: transaction size 140000, limit 131072", "unacceptable"],
  ["tx fee (1.13 ether) exceeds the configured cap (1.00 ether)", "cost_too_high"],
  ["tx fee (1125000000000000000 wei) exceeds the configured cap (1000000000000000000 wei)", "cost_too_high"],
  ["Transaction fee cap exceeded", "cost_too_high"],
  ["internal error", "unclear"],
])("%s means %s", (message, outcome) => {
  expect(sendOutcomeOf(new RpcRefusal(-32000, message))).toBe(outcome);
});

test("the message decides the outcome, because some nodes use one code for all (OpenZeppelin Relayer 681)", () => {
  expect(sendOutcomeOf(new RpcRefusal(-32603, "Transaction nonce too low"))).toBe("nonce_used");
});

test("a missing answer leaves the outcome unclear", () => {
  expect(sendOutcomeOf(new RpcUnanswered("timeout"))).toBe("unclear");
  expect(sendOutcomeOf(new Error("socket hang up"))).toBe("unclear");
});

const HAS_IT = new RpcRefusal(-32000, "already known");
const TOO_LARGE = new RpcRefusal(-32000, "oversized data");
const TOO_CHEAP = new RpcRefusal(-32000, "transaction underpriced");
const SILENT = new RpcUnanswered("timeout");

test.each<[string, Error[], string]>([
  ["more than half of them decide", [TOO_LARGE, HAS_IT, HAS_IT], "known"],
  ["also when that is bad news", [HAS_IT, TOO_LARGE, TOO_LARGE], "unacceptable"],
  ["of two that disagree, one has the bytes", [TOO_LARGE, HAS_IT], "known"],
  ["of three that disagree, one has the bytes", [TOO_LARGE, TOO_CHEAP, HAS_IT], "known"],
  ["two that disagree without that say nothing", [TOO_LARGE, TOO_CHEAP], "unclear"],
  ["one alone decides nothing when the others are silent", [SILENT, SILENT, TOO_CHEAP], "unclear"],
  ["of two, one alone decides nothing", [SILENT, TOO_LARGE], "unclear"],
  ["nobody answers", [SILENT, SILENT], "unclear"],
])("several refusing endpoints: %s", (_, errors, outcome) => {
  expect(sendOutcomeOf(new AggregateError(errors))).toBe(outcome);
});
