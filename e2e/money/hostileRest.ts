import { newId } from "@wonrail/kit/contract/ids";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { type Hostile, type Fixtures } from "./hostile";
import { pathIds } from "./hostilePathIds";

// The fields of what moves no money: wallets, keys, ids in paths, and the queries of lists.

type Values = [name: string, json: string][];

const NOBODY = "0".repeat(32);
const text = (value: unknown) => JSON.stringify(value);
const unlabelled = (...values: string[]): Values => values.map((value) => [value, value]);

const NO_TEXT = unlabelled("null", "0", "1.5", "true", "[]", "{}");
const NO_USER: Values = [
  ...NO_TEXT,
  ["nothing", '""'],
  ["129 characters", text("u".repeat(129))],
  ["a tab", text("kim\tlee")],
  ["a control character of another kind", text("kim\u0085")],
  ["half of a surrogate pair", '"\\ud83d"'],
  ["a NUL", '"a\\u0000b"'],
];
const NO_FLAG: Values = unlabelled("null", "0", "1", '"true"', '""', "[]", "{}");
const NO_TYPE: Values = [...NO_TEXT, ...unlabelled('""', '"GOLD"', '"normal"', '"NORMAL "', '["NORMAL"]')];
const NO_METADATA: Values = [
  ...unlabelled("null", "0", '"x"', "[]", "true"),
  ["six pairs", text(Object.fromEntries([..."abcdef"].map((key) => [key, key])))],
  ["a key of 41 characters", text({ ["k".repeat(41)]: "v" })],
  ["an empty key", '{"":"v"}'],
  ["a value of 501 characters", text({ k: "v".repeat(501) })],
  ["a key twice", '{"k":"1","k":"2"}'],
  ["a key that objects have", '{"__proto__":"v"}'],
  ...unlabelled('{"k":1}', '{"k":null}', '{"k":["v"]}', '{"k":{"k":"v"}}'),
];

/** null deletes a pair. */
const NO_CHANGE: Values = [
  ...NO_METADATA.filter(([name]) => name !== "six pairs" && name !== '{"k":null}'),
  ["21 pairs", text(Object.fromEntries([..."abcdefghijklmnopqrstu"].map((key) => [key, null])))],
];

const NO_SEQUENCE = [...NO_TEXT, ...unlabelled('"-1"', '"1.5"', '"x"', '""')];
const WEBHOOK_FIELDS: Record<string, Values> = {
  url: [
    ...NO_TEXT,
    ["nothing", '""'],
    ["2,001 characters", text(`https://partner.example/${"x".repeat(1_977)}`)],
  ],
  eventTypes: [...unlabelled("null", "0", '"x"', "{}"), ...unlabelled('["gift.given"]', "[1]", "[null]")],
  description: [...NO_TEXT, ["501 characters", text("d".repeat(501))]],
  status: [...NO_TEXT, ...unlabelled('"GONE"', '"enabled"')],
  ordering: [...NO_TEXT, ...unlabelled('"OBJECT"', '"global"')],
  after: NO_SEQUENCE,
};

const { after: _, ...WEBHOOK_CHANGES } = WEBHOOK_FIELDS;
const NO_OVERLAP = unlabelled("null", '"60"', "-1", "1.5", "604801", "true", "[]", "{}");
/** The fields of a request are checked before the webhook is looked for. */
const WEBHOOK = `/api/webhooks/whk_${NOBODY}`;
const PAYOUT_ROWS = `/api/payouts/pyo_${NOBODY}/rows`;
/** Objects whose metadata can be changed. */
const NOTED = [
  ...[`transfer/trf_${NOBODY}`, `charge/cancel/ccl_${NOBODY}`, `charge/refund/rfd_${NOBODY}`],
  ...[`payment/pay_${NOBODY}`, `payment/cancel/pcl_${NOBODY}`, `payment/refund/prf_${NOBODY}`],
].map((place) => `/api/wallets/${place}`);
NOTED.push(`/api/transaction/txn_${NOBODY}`);
const REPLAY_FIELDS: Record<string, Values> = { after: NO_SEQUENCE, upTo: NO_SEQUENCE };

const KEY_FIELDS: Record<string, Values> = {
  name: [...NO_TEXT, ["nothing", '""'], ["101 characters", text("n".repeat(101))]],
  scopes: [
    ...unlabelled("null", "0", '"wallets:read"', "{}", "[]", "[1]", "[null]", '["everything"]'),
    ["too many scopes", text(Array(SCOPES.length + 1).fill("wallets:read"))],
  ],
};
const MORE_KEY_FIELDS: Record<string, Values> = {
  allowedAddresses: [
    ...unlabelled("null", "0", '"10.0.0.1"', "{}", "[1]", '[""]', '["example.com"]', '["10.0.0.1/8"]'),
    ...unlabelled('["10.0.0.256"]', '["10.0.0.0/33"]', '["::ffff:10.0.0.1"]', '["fe80::1%eth0"]', '["*"]'),
    ["51 addresses", text(Array(51).fill("10.0.0.1"))],
  ],
  expiresAt: [
    ...NO_TEXT,
    ...unlabelled('""', '"tomorrow"', '"2001-01-01T00:00:00Z"', '"2999-01-01T00:00:00Z"'),
  ],
  apiVersion: [...NO_TEXT, ...unlabelled('""', '"1999-01-01"', '"latest"')],
};

const ROW = { toWalletAddress: `0x${"5".repeat(40)}`, amount: 1 };
const rowsWith = (fields: object) => text([ROW, { ...ROW, ...fields }]);
const NO_MODE: Values = [...NO_TEXT, ...unlabelled('""', '"atomic"', '"ALL"')];
const NO_ROWS: Values = [
  ...unlabelled("null", "0", '"x"', "true", "{}", "[]", "[null]", "[1]", "[[]]", "[{}]"),
  ["a row without an amount", text([{ toWalletAddress: ROW.toWalletAddress }])],
  ["no address", rowsWith({ toWalletAddress: "0x1" })],
  ["an amount of 0", rowsWith({ amount: 0 })],
  ["a negative amount", rowsWith({ amount: -1 })],
  ["an amount in a string", rowsWith({ amount: "1" })],
  ["an amount that is no whole number", rowsWith({}).replace(/1}]$/, "1.5}]")],
  ["a memo of 201 characters", rowsWith({ memo: "m".repeat(201) })],
  ["an empty reference", rowsWith({ reference: "" })],
  ["metadata that is no object", rowsWith({ metadata: [] })],
  ["a key of 256 characters", rowsWith({ idempotencyKey: "k".repeat(256) })],
  ["a memo that names no error of a row", rowsWith({ memo: "sandbox:PAY_001" })],
  ["an unknown field", rowsWith({ fromWalletId: "wal_1" })],
  ["one key for two rows", text([1, 2].map(() => ({ ...ROW, idempotencyKey: "one" })))],
  ["a sum over 2^53 - 1", rowsWith({ amount: Number.MAX_SAFE_INTEGER })],
];
const NO_CSV: Values = [
  ...NO_TEXT,
  ...["", "toWalletAddress", "amount", "toWalletAddress,amount", "toWalletAddress,amount,amount\n"].map(
    (csv): [string, string] => [csv, text(csv)],
  ),
  ["an unknown column", text("toWalletAddress,amount,fromWalletId\n0x1,1,wal_1")],
  ["a missing cell", text(`toWalletAddress,amount\n${ROW.toWalletAddress}`)],
  ["an open quote", text(`toWalletAddress,amount\n"${ROW.toWalletAddress},1`)],
  ["characters behind a quote", text(`toWalletAddress,amount\n"${ROW.toWalletAddress}"x,1`)],
  ["no amount", text(`toWalletAddress,amount\n${ROW.toWalletAddress},`)],
  ["an amount with a comma", text(`toWalletAddress,amount\n${ROW.toWalletAddress},"1,000"`)],
  ["a formula", text(`toWalletAddress,amount\n${ROW.toWalletAddress},=1+1`)],
];

const NO_AMOUNT = unlabelled("null", "0", "-1", "1.5", "1e20", '"1"', "true", "[]", "{}");
const NO_CLOCK_TIME = [
  ...NO_TEXT,
  ...unlabelled('"tomorrow"', '"2026-01-01"', '"2026-13-01T00:00:00Z"', '"9999-12-31T23:59:59Z"'),
];

/** Each is refused with REQ_001 and its field, but for ids in paths, which are absent. */
export function hostileRest(fixtures: Fixtures): Hostile[] {
  return [...bodies(fixtures), ...pathIds(fixtures), ...queries(fixtures)];
}

function bodies({ walletId, chargeId }: Fixtures): Hostile[] {
  const create = { userId: "new", walletType: "NORMAL" };
  const key = { name: "shop", scopes: ["wallets:read"] };
  const payout = { fromWalletId: walletId, rows: [ROW] };
  const refresh = { apiKey: "wk_test_a", secretKey: "ws_test_a" };
  return [
    ...spoilt("POST", "/api/wallets", create, {
      userId: NO_USER,
      walletType: NO_TYPE,
      metadata: NO_METADATA,
    }),
    ...spoilt("PATCH", `/api/wallets/${walletId}`, { metadata: {} }, { metadata: NO_METADATA }),
    ...[`/api/wallets/charge/${chargeId}`, ...NOTED].flatMap((path) =>
      spoilt("PATCH", path, { metadata: {} }, { metadata: NO_CHANGE }),
    ),
    ...spoilt("POST", "/api/wallet-auth/refresh", refresh, { apiKey: NO_TEXT, secretKey: NO_TEXT }),
    ...spoilt("POST", "/api/webhooks", { url: "https://partner.example/" }, WEBHOOK_FIELDS),
    ...spoilt("PATCH", WEBHOOK, {}, WEBHOOK_CHANGES),
    ...spoilt("POST", `${WEBHOOK}/rotate-secret`, {}, { overlapSeconds: NO_OVERLAP }),
    ...spoilt("POST", `${WEBHOOK}/replay`, { after: "0", upTo: "9" }, REPLAY_FIELDS),
    ...["false", "null", '"true"'].map((value) =>
      refused("POST", `${WEBHOOK}/replay`, "failed", value, `{"failed":${value}}`),
    ),
    ...spoilt("POST", "/api/wallet-auth/keys", key, KEY_FIELDS),
    ...spoilt("POST", "/api/payouts", payout, { mode: NO_MODE, dryRun: NO_FLAG, rows: NO_ROWS }),
    ...NO_CSV.map(([name, json]) => {
      const body = `{"fromWalletId":"${walletId}","dryRun":true,"csv":${json}}`;
      return refused("POST", "/api/payouts", "csv", name, body);
    }),
    ...spoilt("POST", "/api/sandbox/deposits", { walletId, amount: 1_000 }, { amount: NO_AMOUNT }),
    ...spoilt("POST", "/api/sandbox/clocks/advance", { to: "2026-01-01T00:00:00Z" }, { to: NO_CLOCK_TIME }),
    refused("POST", "/api/payouts", "rows", "rows and csv", text({ ...payout, csv: "" })),
    ...Object.entries(MORE_KEY_FIELDS).flatMap(([field, values]) =>
      values.map(([name, json]) =>
        refused(
          "POST",
          "/api/wallet-auth/keys",
          field,
          name,
          `${text(key).slice(0, -1)},"${field}":${json}}`,
        ),
      ),
    ),
    ...["", "1", "yes", "TRUE", "true,false"].map((value) => {
      const path = `/api/wallet-auth/keys/key_${NOBODY}?withSuccessors=${value}`;
      return refused("DELETE", path, "withSuccessors", value);
    }),
    ...[
      ...["DELETE /api/wallet-auth/api-key", "POST /api/wallet-auth/rotate-secret"],
      ...["POST /api/sandbox/clocks", `POST /api/sandbox/settlements/trf_${NOBODY}/fail`],
      ...[`POST /api/wallets/${walletId}/deactivate`, `POST ${WEBHOOK}/test`],
    ].map((place) => {
      const [method, path] = place.split(" ") as [string, string];
      return refused(method, path, "walletId", "in a body that there is none of", '{"walletId":1}');
    }),
  ];
}

/** Every field with every invalid value, every required field missing, and unknown fields. */
function spoilt(method: string, path: string, good: object, fields: Record<string, Values>): Hostile[] {
  const without = (field: string) =>
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
  const written = (field: string, json: string) => `${text(without(field)).slice(0, -1)},"${field}":${json}}`;
  return [
    ...Object.entries(fields).flatMap(([field, values]) =>
      values.map(([name, json]) =>
        refused(method, path, field, name, written(field, json).replace("{,", "{")),
      ),
    ),
    ...Object.keys(good).map((field) => refused(method, path, field, "missing", text(without(field)))),
    ...["walletId", "balance", "orgId"].map((field) =>
      refused(method, path, field, "unknown field", text({ ...good, [field]: 1 })),
    ),
  ];
}

const PAGES: Record<string, string[]> = {
  limit: ["", "0", "-1", "101", "1.5", "1e2", "abc", "0x10", "010", " 1", "٣", "9".repeat(30)],
  currentPage: ["", "0", "-1", "1.5", "abc", "501", "999999999", "9".repeat(30)],
  sort: ["asc"],
};
const NO_CURSOR = ["", "no cursor!", "AAAA", "x".repeat(600), "' or 1=1"];
const NO_MOMENT = [
  "",
  "yesterday",
  "1700000000",
  "2026-01-01",
  "2026-01-01T00:00:00",
  "2026-13-01T00:00:00Z",
];

/** Fields of each list's cursor. Other lists ignore them. */
const KEYS = {
  wallet: newId("wal"),
  transfer: newId("trf"),
  charge: newId("chg"),
  payment: newId("pay"),
  record: newId("txn"),
  webhook: newId("whk"),
  key: newId("key"),
  refund: newId("rfd"),
  payout: newId("pyo"),
  line: "7",
  place: "7.1",
};

function cursors(own: keyof typeof KEYS): string[] {
  const foreign = Object.entries(KEYS).filter(([list]) => list !== own);
  return [...NO_CURSOR, ...foreign.map(([, key]) => Buffer.from(key).toString("base64url"))];
}

function base64(key: string): string {
  return Buffer.from(key).toString("base64url");
}

const NO_STATUS = ["", "GONE", "paid", "PAID,CANCELLED"];
const NO_WON = ["", "-1", "1.5", "1e3", "01", "abc", "9007199254740992", "9".repeat(30)];
const NO_UNITS = ["", "-1", "1.5", "1e3", "01", "abc", "9".repeat(79)];
/** The filters of every list of money. */
const MONEY = {
  reference: ["", "r".repeat(101)],
  settlementStatus: ["", "GONE", "confirmed"],
  from: NO_MOMENT,
  to: NO_MOMENT,
  minAmount: NO_WON,
  maxAmount: NO_WON,
  order: ["", "up", "ASC", "asc,desc"],
};

const EVENT_FILTERS = {
  after: ["", "-1", "1.5", "abc", "0x1", "01", "9".repeat(30)],
  types: ["", ",", "gift.given", "payment.created,", "PAYMENT.CREATED"],
  objectId: ["", "wal_1", "' or 1=1; --", "x".repeat(600)],
};

function queries({ walletId, paymentId }: Fixtures): Hostile[] {
  const noWallet = ["", "wal_1", paymentId, "' or 1=1; --"];
  const lists: Record<string, Record<string, string[]>> = {
    "/api/wallets": {
      cursor: cursors("wallet"),
      userId: ["", "u".repeat(129)],
      walletType: ["", "GOLD", "normal"],
      status: ["", "GONE"],
    },
    "/api/wallets/transfer": { cursor: cursors("transfer"), walletId: noWallet, status: NO_STATUS, ...MONEY },
    "/api/wallets/charge": { cursor: cursors("charge"), walletId: noWallet, status: NO_STATUS, ...MONEY },
    "/api/wallets/charge/refund": {
      cursor: cursors("refund"),
      walletId: noWallet,
      status: ["PAID"],
      ...MONEY,
    },
    "/api/wallets/payment": { cursor: cursors("payment"), walletId: noWallet, status: NO_STATUS, ...MONEY },
    "/api/transactions": {
      cursor: [...cursors("place"), ...["0.1", "1.", "1.99999999"].map(base64)],
      type: ["", ",", "GIFT", "payment", "PAYMENT,"],
      status: NO_STATUS,
      ...MONEY,
    },
    [`/api/wallets/${walletId}/balance`]: { at: [...NO_MOMENT, "9999-01-01T00:00:00Z"] },
    [`/api/wallets/${walletId}/transactions`]: {
      cursor: cursors("line"),
      type: ["", ",", "GIFT", "payment", "PAYMENT,", "PAYMENT,GIFT", "PAYMENT;CHARGE"],
      ...{ from: NO_MOMENT, to: NO_MOMENT, order: MONEY.order },
    },
    "/api/events": { ...EVENT_FILTERS, order: ["", "up", "ASC"], wait: ["", "-1", "21", "1e1", "0x1"] },
    "/api/events/stream": EVENT_FILTERS,
    "/api/wallet-auth/keys": { cursor: cursors("key") },
    "/api/webhooks": { cursor: cursors("webhook") },
    [`${WEBHOOK}/deliveries`]: {
      cursor: [...NO_CURSOR, base64(KEYS.webhook)],
      status: ["", "GONE", "failed", "FAILED,PENDING"],
    },
    "/api/payouts": { cursor: cursors("payout"), status: NO_STATUS, order: MONEY.order },
    [PAYOUT_ROWS]: { cursor: cursors("line"), status: ["", "GONE", "refused", "REFUSED,SKIPPED"] },
    "/api/transaction": {
      cursor: cursors("record"),
      status: NO_STATUS,
      paymentType: ["", "LATER", "instant"],
      address: ["", "0x", "5".repeat(40), `0x${"5".repeat(39)}`, `0x${"5".repeat(39)}g`],
      ...{ from: NO_MOMENT, to: NO_MOMENT, reference: MONEY.reference, order: MONEY.order },
      minAmount: NO_UNITS,
      maxAmount: NO_UNITS,
    },
  };
  return [
    ...Object.entries(lists).flatMap(([path, own]) => spoiltQueries(`${path}?`, { ...PAGES, ...own })),
    ...reports(noWallet),
  ];
}

function reports(noWallet: string[]): Hostile[] {
  const future = "9999-01-01T00:00:00Z";
  const ago = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString();
  const period = { to: [...NO_MOMENT, future, ago(2)], limit: ["1"], cursor: ["x"] };
  return ["/api/reports/statements", "/api/reports/settlements"].flatMap((path) => [
    refused("GET", path, "from", "missing"),
    ...spoiltQueries(`${path}?`, { from: [...NO_MOMENT, future, ago(367)] }),
    ...spoiltQueries(`${path}?from=${ago(1)}&`, {
      ...{ ...period, format: ["", "pdf", "CSV", "json,csv"] },
      walletId: path.endsWith("statements") ? noWallet : ["wal_1"],
    }),
  ]);
}

function spoiltQueries(before: string, fields: Record<string, string[]>): Hostile[] {
  return Object.entries(fields).flatMap(([field, values]) => [
    ...values.map((value) => refused("GET", `${before}${field}=${encodeURIComponent(value)}`, field, value)),
    refused("GET", `${before}${field}=1&${field}=2`, field, "twice"),
  ]);
}

function refused(method: string, path: string, field: string, name: string, json?: string): Hostile {
  const body = json === undefined ? {} : { json };
  return { name: `${method} ${path} ${field}: ${name}`, method, path, field, ...body, codes: ["REQ_001"] };
}
