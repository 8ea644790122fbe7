import { type Case, type Command, type Hostile, NOTES, breakEachField } from "./hostile";

/** Changeable records of the organisation, which the cases must leave unchanged. */
export interface Recorded {
  instantId: string;
  scheduledId: string;
  address: string;
}

const text = (value: unknown) => JSON.stringify(value);
const HASH = `0x${"4e".repeat(32)}`;
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

/** Every field of every record request, with every invalid value. */
export function hostileRecords({ instantId, scheduledId, address }: Recorded): Hostile[] {
  const path = "/api/transaction";
  const network = { fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" };
  const shared = { ...network, fromAddress: address, toAddress: address, amount: "1000000" };
  const fields = {
    fromNetworkType: NETWORKS,
    toNetworkType: NETWORKS,
    paymentType: words("LATER", "instant", "RECORD_PAYMENT_TYPE_INSTANT"),
    fromAddress: addresses(address),
    toAddress: addresses(address),
    amount: UNITS,
    fee: UNITS,
    ...NOTES,
  };
  const commands: Command[] = [
    {
      method: "POST",
      path,
      body: { ...shared, paymentType: "INSTANT", txHash: HASH },
      fields: { ...fields, txHash: HASHES },
    },
    {
      method: "POST",
      path,
      body: { ...shared, paymentType: "SCHEDULED", scheduledAt: TOMORROW },
      fields: { ...fields, scheduledAt: MOMENTS },
    },
    {
      method: "PATCH",
      path: `${path}/${instantId}/status`,
      body: { status: "FAILED" },
      fields: { status: words("DONE", "failed", "UNSPECIFIED"), failureReason: REASONS },
    },
    {
      method: "PATCH",
      path: `${path}/${scheduledId}/schedule`,
      body: { scheduledAt: TOMORROW },
      fields: { scheduledAt: MOMENTS },
    },
  ];
  return breakEachField(commands);
}

const NO_TEXTS = ["null", "0", "1", "[]", "{}", "true"].map((json): Case => [json, json, "REQ_001"]);
const NETWORKS = words("ETHEREUM_MAINNET", "base_sepolia", "BASE_SEPOLIA ", "WON", "*");
const HASHES = words(
  HASH.slice(2),
  `0X${HASH.slice(2)}`,
  HASH.slice(0, -1),
  `${HASH}0`,
  `0x${"g".repeat(64)}`,
);
const UNITS = words("-1", "+1", "01", "1.5", "1e3", "0x1", " 1", "1 ", "1_000", "١", "NaN", "9".repeat(79));
const MOMENTS = words(
  "tomorrow",
  "2999-01-01",
  "2999-01-01T00:00:00",
  "2999-02-30T00:00:00Z",
  "2999-01-01T25:00:00Z",
  "32503680000000",
  "2001-01-01T00:00:00Z",
);
const REASONS: Case[] = [
  ...NO_TEXTS,
  ["501 letters", text("r".repeat(501)), "REQ_001"],
  ["half of a surrogate pair", '"\\ud83d"', "REQ_001"],
  ["a NUL", '"a\\u0000b"', "REQ_001"],
];

function addresses(address: string): Case[] {
  const hex = address.slice(2).toLowerCase();
  return words(
    hex,
    `0X${hex}`,
    `0x${hex.slice(1)}`,
    `0x${hex}0`,
    `0x${"z".repeat(40)}`,
    ` 0x${hex}`,
    "a.eth",
  );
}

/** Unknown enum strings, and values of other types. */
function words(...wrong: string[]): Case[] {
  return [
    ...NO_TEXTS,
    ...["", "x".repeat(10_000), ...wrong].map((word): Case => [word, text(word), "REQ_001"]),
  ];
}
