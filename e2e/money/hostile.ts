/** A request that must be refused. */
export interface Hostile {
  name: string;
  method: string;
  path: string;
  /** The field that is spoilt. */
  field: string;
  /** Raw JSON text, for bodies that no serialiser writes. */
  json?: string;
  codes: string[];
}

/** Valid objects, and objects that are invalid for a command. */
export interface Fixtures {
  walletId: string;
  walletAddress: string;
  otherWalletId: string;
  otherAddress: string;
  chargeId: string;
  paymentId: string;
  deactivatedId: string;
  deactivatedAddress: string;
  /** Another organisation's. */
  foreign: { walletId: string; chargeId: string; paymentId: string };
  tokenAddress: string;
  paymentManagerAddress: string;
}

type Body = Record<string, unknown>;
/** A value as JSON text, and the codes that may refuse it. */
export type Case = [name: string, json: string, ...codes: string[]];

/** A valid request, and the invalid values of each field. */
export interface Command {
  method: "POST" | "PATCH";
  path: string;
  body: Body;
  fields: Record<string, Case[]>;
}

const NOBODY = "0".repeat(32);
const text = (value: unknown) => JSON.stringify(value);

/** Every field of every money command, with every invalid value. */
export function hostileCases(fixtures: Fixtures): Hostile[] {
  return breakEachField(commandsOf(fixtures).map((command) => ({ method: "POST", ...command })));
}

/** Each field with each invalid value, missing where it is required, and beside unknown fields. */
export function breakEachField(commands: Command[]): Hostile[] {
  return commands.flatMap(({ method, path, body, fields }) => [
    ...Object.entries(fields).flatMap(([field, cases]) =>
      cases.map(([name, json, ...codes]) => ({
        name: `${path} ${field}: ${name}`,
        method,
        path,
        field,
        json: spoilt(body, field, json),
        codes,
      })),
    ),
    ...Object.keys(fields)
      .filter((field) => field in body)
      .map((field) => ({
        name: `${path} ${field}: missing`,
        method,
        path,
        field,
        json: text(without(body, field)),
        codes: ["REQ_001"],
      })),
    ...["orgId", "balance", "createdAt", "Amount"].map((field) => ({
      name: `${path} ${field}: unknown field`,
      method,
      path,
      field,
      json: text({ ...body, [field]: 1 }),
      codes: ["REQ_001"],
    })),
  ]);
}

function commandsOf(fixtures: Fixtures): Omit<Command, "method">[] {
  const { walletId, otherWalletId, otherAddress, chargeId, paymentId, foreign } = fixtures;
  const normal = walletIds(foreign.walletId, fixtures.deactivatedId, paymentId);
  return [
    {
      path: "/api/wallets/transfer",
      body: { fromWalletId: walletId, toWalletAddress: otherAddress, amount: 1_000 },
      fields: {
        fromWalletId: normal,
        toWalletAddress: addresses(fixtures),
        amount: [...amounts("REQ_001"), ["2^53 - 1", "9007199254740991", "TRF_001", "TRF_003"]],
        ...NOTES,
      },
    },
    {
      path: "/api/wallets/charge",
      body: { walletId, amount: 1_000 },
      fields: {
        walletId: normal,
        amount: [...amounts("CHG_001"), ["over the daily charge limit", "9007199254740991", "CHG_008"]],
        ...NOTES,
      },
    },
    {
      path: "/api/wallets/charge/cancel",
      body: { chargeId },
      fields: {
        chargeId: ids("chg", foreign.chargeId, walletId, "CHG_002"),
        amount: [...amounts("REQ_001"), ["more than the charge", "9007199254740991", "CHG_005"]],
        ...NOTES,
      },
    },
    { path: "/api/wallets/charge/refund", body: { walletId }, fields: { walletId: normal, ...NOTES } },
    {
      path: "/api/wallets/payment",
      body: { payerWalletId: walletId, receiverWalletId: otherWalletId, amount: 1_000 },
      fields: {
        payerWalletId: normal,
        receiverWalletId: [...normal, ["the payer's own", text(walletId), "PAY_005"]],
        amount: [...amounts("PAY_002"), ["more than there is", "9007199254740991", "PAY_001"]],
        incentiveAmount: [
          ...amounts("REQ_001").filter(([name]) => name !== "null" && name !== "0"),
          ["more than there is", "1000", "PAY_006"],
          ["more than the amount", "1001", "PAY_006"],
        ],
        ...NOTES,
      },
    },
    {
      path: "/api/wallets/payment/cancel",
      body: { paymentId },
      fields: { paymentId: ids("pay", foreign.paymentId, chargeId, "PAY_004"), ...NOTES },
    },
    {
      path: "/api/wallets/payment/refund",
      body: { paymentId, amount: 1_000 },
      fields: {
        paymentId: ids("pay", foreign.paymentId, chargeId, "PAY_004"),
        amount: [...amounts("REQ_001"), ["more than the payment", "9007199254740991", "PAY_009"]],
        ...NOTES,
      },
    },
  ];
}

/** The code of a too small whole number depends on the command. */
function amounts(tooSmall: string): Case[] {
  const never = [
    "1.5",
    "1e3",
    "1000.0",
    "1E3",
    "true",
    "null",
    "[1000]",
    "{}",
    '""',
    '"1000"',
    '"0x3e8"',
    '"١٠٠٠"',
  ];
  const numbers = ["9007199254740992", "9007199254740993", "9223372036854775808", "1e400", "-1e400", "1e-7"];
  const noJson = ["NaN", "Infinity", "0x3e8", "01000", "+1000", "1_000", "1000n", "undefined"];
  const small: Case[] = [
    ["0", "0", tooSmall],
    ["-1", "-1", tooSmall],
    ["-1000", "-1000", tooSmall],
  ];
  return [...[...never, ...numbers, ...noJson].map((json): Case => [json, json, "REQ_001"]), ...small];
}

function ids(prefix: string, foreign: string, otherKind: string, absent: string): Case[] {
  const shapes = ["", prefix, `${prefix}_`, `${prefix}_${"0".repeat(31)}`, `${prefix}_${"0".repeat(33)}`];
  const spelt = [
    `${prefix.toUpperCase()}_${NOBODY}`,
    `${prefix}_${"０".repeat(32)}`,
    `${prefix}_${"g".repeat(32)}`,
  ];
  const foul = ["' or 1=1; --", "../../etc/passwd", "null", "%00", ` ${foreign}`];
  return [
    ["another organisation's", text(foreign), absent],
    ["of another kind", text(otherKind), absent],
    ["absent", text(`${prefix}_${NOBODY}`), absent],
    ...[...shapes, ...spelt, ...foul].map((id): Case => [text(id), text(id), absent]),
    ["ten thousand letters", text("x".repeat(10_000)), absent, "REQ_001"],
    ...["null", "0", "[]", "{}", "true"].map((json): Case => [json, json, "REQ_001"]),
    ["in a list", `[${text(`${prefix}_${NOBODY}`)}]`, "REQ_001"],
  ];
}

function walletIds(foreign: string, deactivated: string, otherKind: string): Case[] {
  return [...ids("wal", foreign, otherKind, "WAL_002"), ["deactivated", text(deactivated), "WAL_004"]];
}

function addresses({ walletAddress, otherAddress, deactivatedAddress, ...contracts }: Fixtures): Case[] {
  const hex = otherAddress.slice(2).toLowerCase();
  const flipped = otherAddress.replace(/[a-f]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const wrong: [string, string][] = [
    ["0X prefix", `0X${hex}`],
    ["no prefix", hex],
    ["41 characters", `0x${hex.slice(1)}`],
    ["43 characters", `0x${hex}0`],
    ["a bad checksum", flipped],
    ["no hex", `0x${"z".repeat(40)}`],
    ["Unicode digits", `0x${"１".repeat(40)}`],
    ["a space", ` 0x${hex}`],
    ["nothing", ""],
    ["a name", "wonrail.eth"],
    ["the zero address", `0x${"0".repeat(40)}`],
    ["its own", walletAddress],
    ["its own, in small letters", walletAddress.toLowerCase()],
    ["the token's", contracts.tokenAddress],
    ["the payment manager's", contracts.paymentManagerAddress],
    ["ten thousand letters", "x".repeat(10_000)],
  ];
  return [
    ...wrong.map(([name, address]): Case => [name, text(address), "TRF_002"]),
    ...["null", "0", "[]", "{}", "true"].map((json): Case => [json, json, "REQ_001", "TRF_002"]),
    ["a deactivated wallet's", text(deactivatedAddress), "WAL_004"],
  ];
}

const MEMOS: Case[] = [
  ["201 letters", text("m".repeat(201)), "REQ_001"],
  ["201 emoji", text("🙂".repeat(201)), "REQ_001"],
  ["half of a surrogate pair", '"\\ud83d"', "REQ_001"],
  ["the other half", '"\\ude42"', "REQ_001"],
  ["a NUL", '"a\\u0000b"', "REQ_001"],
  ...["null", "0", "[]", "{}", "true"].map((json): Case => [json, json, "REQ_001"]),
];

const METADATA: Case[] = [
  ["eleven pairs", text(Object.fromEntries([..."abcdefghijk"].map((name) => [name, ""]))), "REQ_001"],
  ["a key of 41 letters", `{"${"k".repeat(41)}":""}`, "REQ_001"],
  ["an empty key", '{"":"a"}', "REQ_001"],
  ["a value of 501 letters", text({ a: "v".repeat(501) }), "REQ_001"],
  ["a number as a value", '{"a":1}', "REQ_001"],
  ["an object as a value", '{"a":{}}', "REQ_001"],
  ["__proto__ as a key", '{"__proto__":"a"}', "REQ_001"],
  ["a NUL in a value", '{"a":"\\u0000"}', "REQ_001"],
  ...["null", "0", "[]", '""', "true"].map((json): Case => [json, json, "REQ_001"]),
];

/** Fields that every command accepts. */
export const NOTES = {
  memo: MEMOS,
  reference: [
    ["nothing", '""', "REQ_001"],
    ["101 letters", text("r".repeat(101)), "REQ_001"],
    ...MEMOS.slice(1),
  ] satisfies Case[],
  metadata: METADATA,
};

/** The body with one field's raw value replaced. */
function spoilt(body: Body, field: string, json: string): string {
  const mark = "\u0001spoilt";
  return text({ ...body, [field]: mark }).replace(text(mark), () => json);
}

function without(body: Body, field: string): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));
}
