import { exampleId } from "../routes/exampleFixtures";
import { type SendOptions } from "./startGateway";

/** Refused without a call that could change data. */
export type Case = [name: string, path: string, options: SendOptions, wanted: [number, string]];

const REFUSED: [number, string] = [400, "REQ_001"];
const walletId = exampleId("wal");
const charge = { walletId, amount: 1_000 };

const NOTES: [name: string, notes: object][] = [
  ["an empty reference", { reference: "" }],
  ["a reference of 101 characters", { reference: "r".repeat(101) }],
  ["a reference as a number", { reference: 7 }],
  ["eleven pairs of metadata", { metadata: pairs(11, "v") }],
  ["a number in the metadata", { metadata: { till: 3 } }],
  ["null in the metadata", { metadata: { till: null } }],
];

const CHANGES: [name: string, body: object][] = [
  ["an empty body", {}],
  ["metadata as an array", { metadata: [] }],
  ["an object in the metadata", { metadata: { till: {} } }],
  ["a field that cannot change", { metadata: {}, reference: "order-8" }],
  ["twenty-one pairs", { metadata: pairs(21, null) }],
];

const PLACES = [
  `/api/wallets/transfer/${exampleId("trf")}`,
  `/api/wallets/charge/${exampleId("chg")}`,
  `/api/wallets/charge/cancel/${exampleId("ccl")}`,
  `/api/wallets/charge/refund/${exampleId("rfd")}`,
  `/api/wallets/payment/${exampleId("pay")}`,
  `/api/wallets/payment/cancel/${exampleId("pcl")}`,
  `/api/transaction/${exampleId("txn")}`,
];

const LISTS = ["transfer", "charge", "charge/refund", "payment"].map((list) => `/api/wallets/${list}`);
const FILTERS = [
  "minAmount=-1",
  "minAmount=1e3",
  "maxAmount=9007199254740992",
  "minAmount=2&maxAmount=1",
  "order=up",
  "reference=",
  "settlementStatus=GONE",
  "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
];

/** Hostile notes, changes of metadata, filters and times. */
export const hostileNotes: Case[] = [
  ...NOTES.map(([name, notes]): Case => [
    name,
    "POST /api/wallets/charge",
    { body: { ...charge, ...notes } },
    REFUSED,
  ]),
  [
    "__proto__ in the metadata",
    "POST /api/wallets/charge",
    { body: `{"walletId":"${walletId}","amount":1000,"metadata":{"__proto__":"v"}}` },
    REFUSED,
  ],
  ...CHANGES.flatMap(([name, body]) =>
    PLACES.map((place): Case => [`${name} for ${place}`, `PATCH ${place}`, { body }, REFUSED]),
  ),
  ...FILTERS.flatMap((filter) =>
    [...LISTS, "/api/transactions"].map((path): Case => {
      const place = `GET ${path}?${filter}`;
      return [place, place, {}, REFUSED];
    }),
  ),
  ["a time that is no date-time", `GET /api/wallets/${walletId}/balance?at=yesterday`, {}, REFUSED],
  ["another parameter of a balance", `GET /api/wallets/${walletId}/balance?limit=1`, {}, REFUSED],
  ["a wallet id of the wrong form", "GET /api/wallets/wal_1/balance", {}, [404, "WAL_002"]],
];

function pairs(count: number, value: string | null): Record<string, string | null> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
}
