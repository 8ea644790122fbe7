import { API_VERSIONS } from "@wonrail/kit/contract/apiVersions";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { MAX_BODY_BYTES } from "../middleware/readBody";
import { exampleId, instant, payerWalletId, STORY_BEGINS_AT } from "./exampleFixtures";

/** The example of a refusal with this code. */
export function exampleOf(code: ErrorCode) {
  const { message } = errorTable[code];
  return {
    success: false,
    data: null,
    error: { code, message, details: EXAMPLE_DETAILS[code] ?? null },
    requestId: exampleId("req"),
    timestamp: STORY_BEGINS_AT,
  };
}

const EXAMPLE_DETAILS: Partial<Record<ErrorCode, Record<string, unknown>>> = {
  REQ_001: { fields: [{ path: "amount", message: "must be a whole number" }] },
  REQ_006: { maxBytes: MAX_BODY_BYTES },
  REQ_008: { versions: [...API_VERSIONS] },
  RATE_001: { retryAfterMs: 250 },
  SYS_002: { retryAfterMs: 1000 },
  WAUTH_004: {
    quota: "MONEY_OPERATIONS",
    limit: 1_000_000,
    used: 1_000_000,
    resetsAt: "2026-01-31T15:00:00.000Z",
  },
  WAUTH_005: { scope: "payments:write" },
  WAUTH_006: { address: "198.51.100.7" },
  WAUTH_008: { limit: 100 },
  WAL_001: { walletId: payerWalletId },
  WAL_002: { walletId: payerWalletId },
  WAL_003: { walletId: payerWalletId },
  WAL_004: { walletId: payerWalletId },
  TRF_004: { walletId: payerWalletId },
  PAY_003: { paymentId: exampleId("pay") },
  PAY_001: { available: 9_500, required: 12_000 },
  PAY_005: { walletId: payerWalletId, reason: "same_user" },
  PAY_006: { reason: "over_balance" },
  TRF_001: { available: 9_500, required: 12_000 },
  CHG_007: { reason: "nothing_to_refund" },
  CHG_008: { reason: "max_charge", maxCharge: 1_000_000 },
  WAUTH_001: { reason: "no_key_sent" },
  CHG_003: { chargeId: exampleId("chg") },
  TX_002: { id: instant.id },
  TRF_003: { dailyLimit: 5_000_000, usedToday: 4_900_000 },
  CHG_005: { remaining: 30_000 },
  EVT_002: { oldestAfter: "1200" },
  WHK_002: { reason: "not_https" },
  WHK_003: { limit: 50 },
  TX_003: { status: "CONFIRMED" },
  TX_004: { status: "CONFIRMED", reason: "not_pending" },
  SBX_002: { state: "SUBMITTED" },
  SBX_003: { reason: "faucet_empty" },
  TRF_002: { fields: [{ path: "toWalletAddress", message: "must be 0x and 40 hex digits" }] },
  CHG_001: { fields: [{ path: "amount", message: "must be at least 1000" }] },
  PAY_002: { fields: [{ path: "amount", message: "must be at least 100" }] },
};
