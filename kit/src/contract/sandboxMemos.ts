// Memos that make the sandbox of a test network rehearse an outcome. On a main network they are plain text.

export const SANDBOX_MEMO_PREFIX = "sandbox:";

/** HOLD: the settlement waits. FAIL: it fails, or waits when it cannot fail. */
export type SettlementOrder = "HOLD" | "FAIL";

export const SETTLEMENT_MEMOS: Readonly<Record<string, SettlementOrder>> = {
  "sandbox:settlement_held": "HOLD",
  "sandbox:settlement_failed": "FAIL",
};

/** Undefined for a memo that orders no outcome of a settlement. */
export function settlementOrderOf(memo: string | undefined): SettlementOrder | undefined {
  return memo !== undefined && Object.hasOwn(SETTLEMENT_MEMOS, memo) ? SETTLEMENT_MEMOS[memo] : undefined;
}
