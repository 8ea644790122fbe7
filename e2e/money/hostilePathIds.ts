import { type Fixtures, type Hostile } from "./hostile";

const NOBODY = "0".repeat(32);

/** Malformed ids in paths, and ids of another kind: each is absent, whatever the body says. */
export function pathIds({ walletId, paymentId }: Fixtures): Hostile[] {
  const places: [
    method: string,
    before: string,
    after: string,
    prefix: string,
    absent: string,
    body?: string,
  ][] = [
    ["GET", "/api/wallets/", "", "wal", "WAL_002"],
    ["PATCH", "/api/wallets/", "", "wal", "WAL_002"],
    ["POST", "/api/wallets/", "/deactivate", "wal", "WAL_002"],
    ["GET", "/api/wallets/", "/transactions", "wal", "WAL_002"],
    ["GET", "/api/wallets/", "/balance", "wal", "WAL_002"],
    ["PATCH", "/api/wallets/transfer/", "", "trf", "TRF_005"],
    ["PATCH", "/api/wallets/charge/", "", "chg", "CHG_002"],
    ["PATCH", "/api/wallets/charge/cancel/", "", "ccl", "CHG_002"],
    ["PATCH", "/api/wallets/charge/refund/", "", "rfd", "CHG_002"],
    ["PATCH", "/api/wallets/payment/", "", "pay", "PAY_004"],
    ["PATCH", "/api/wallets/payment/cancel/", "", "pcl", "PAY_004"],
    ["PATCH", "/api/wallets/payment/refund/", "", "prf", "PAY_004"],
    ["PATCH", "/api/transaction/", "", "txn", "TX_001"],
    ["GET", "/api/wallets/transfer/", "", "trf", "TRF_005"],
    ["GET", "/api/wallets/charge/", "", "chg", "CHG_002"],
    ["GET", "/api/wallets/charge/refund/", "", "rfd", "CHG_002"],
    ["GET", "/api/wallets/payment/", "", "pay", "PAY_004"],
    ["GET", "/api/payouts/", "", "pyo", "PYO_001"],
    ["GET", "/api/payouts/", "/rows", "pyo", "PYO_001"],
    ["GET", "/api/events/", "", "evt", "EVT_001"],
    ["GET", "/api/wallet-auth/keys/", "", "key", "WAUTH_007"],
    ["DELETE", "/api/wallet-auth/keys/", "", "key", "WAUTH_007"],
    ["POST", "/api/sandbox/keys/", "/expire", "key", "WAUTH_007"],
    ["POST", "/api/sandbox/settlements/", "/fail", "pay", "SBX_001"],
    ["POST", "/api/sandbox/settlements/", "/hold", "pay", "SBX_001"],
    ["POST", "/api/sandbox/settlements/", "/release", "pay", "SBX_001"],
    ["GET", "/api/transaction/", "", "txn", "TX_001"],
    ["PATCH", "/api/transaction/", "/status", "txn", "TX_001", '{"status":"FAILED"}'],
    ["PATCH", "/api/transaction/", "/schedule", "txn", "TX_001", '{"scheduledAt":"2099-01-01T00:00:00Z"}'],
    ["GET", "/api/webhooks/", "", "whk", "WHK_001"],
    ["PATCH", "/api/webhooks/", "", "whk", "WHK_001", '{"description":"mine"}'],
    ["DELETE", "/api/webhooks/", "", "whk", "WHK_001"],
    ["POST", "/api/webhooks/", "/test", "whk", "WHK_001"],
    ["POST", "/api/webhooks/", "/rotate-secret", "whk", "WHK_001", "{}"],
    ["POST", "/api/webhooks/", "/replay", "whk", "WHK_001", '{"failed":true}'],
    ["GET", "/api/webhooks/", "/deliveries", "whk", "WHK_001"],
  ];
  return places.flatMap(([method, before, after, prefix, absent, body]) => {
    const json = body ?? (method === "PATCH" ? '{"metadata":{}}' : undefined);
    const otherKind = prefix === "pay" ? walletId : paymentId;
    const wrong = [
      prefix,
      `${prefix}_`,
      `${prefix}_${"0".repeat(31)}`,
      `${prefix}_${"0".repeat(33)}`,
      otherKind,
    ];
    const foul = [
      `${prefix.toUpperCase()}_${NOBODY}`,
      `${prefix}_${"０".repeat(32)}`,
      "' or 1=1; --",
      "../../etc",
    ];
    return [...wrong, ...foul].map((id) => ({
      name: `${method} ${before}…${after}: ${id}`,
      method,
      path: `${before}${encodeURIComponent(id)}${after}`,
      field: "",
      ...(json === undefined ? {} : { json }),
      codes: [absent],
    }));
  });
}
