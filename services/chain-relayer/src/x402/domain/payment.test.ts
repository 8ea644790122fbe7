import { MAX_WON } from "@wonrail/kit/contract/money";
import { type TransferAuthorization } from "../../evm";
import {
  checkTimes,
  exactPayment,
  isRefusal,
  isSamePayment,
  type PaymentRequest,
  readPayment,
  REASONS,
} from "./payment";

const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const SHOP = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";
const PAYER = "0x52908400098527886E0F7030069857D2E4169EE7";
const NETWORK = { chainId: 31_337n, tokenAddress: TOKEN };
const NOW = 2_000_000_000n;

const GOOD: PaymentRequest = {
  ...{ x402Version: 2, acceptedScheme: "exact", acceptedNetwork: "eip155:31337" },
  terms: { scheme: "exact", network: "eip155:31337", asset: TOKEN, amount: "3000000", payTo: SHOP },
  authorization: {
    ...{ from: PAYER, to: SHOP, value: "3000000" },
    ...{ validAfter: "1999999400", validBefore: "2000000060", nonce: `0x${"Ab".repeat(32)}` },
  },
  signature: new Uint8Array(65),
};

type Authorization = NonNullable<PaymentRequest["authorization"]>;
const withTerms = (terms: Partial<PaymentRequest["terms"]>) => ({
  ...GOOD,
  terms: { ...GOOD.terms, ...terms },
});
const withAuthorization = (change: Partial<Authorization>) => ({
  ...GOOD,
  authorization: { ...GOOD.authorization!, ...change },
});

test("an authorization in the right form is read, with its nonce in lower case", () => {
  expect(readPayment(GOOD, NETWORK)).toEqual({
    ...{ from: PAYER, to: SHOP, units: 3_000_000n, nonce: "ab".repeat(32) },
    ...{ validAfter: 1_999_999_400n, validBefore: 2_000_000_060n },
  });
  const lower = withTerms({ asset: TOKEN.toLowerCase(), payTo: SHOP.toLowerCase() });
  expect(isRefusal(readPayment(lower, NETWORK))).toBe(false);
});

test("the largest amount that the ledger can credit is read", () => {
  const value = `${MAX_WON}000000`;
  const request = { ...withAuthorization({ value }), terms: { ...GOOD.terms, amount: value } };
  expect(readPayment(request, NETWORK)).toMatchObject({ units: MAX_WON * 1_000_000n });
});

const NO_NUMBERS = ["", "-1", "1.5", "0x1", "1e6", " 1", `${2n ** 256n}`, "9".repeat(79)];
const NO_ADDRESSES = ["", "0x", SHOP.slice(0, 41), `${SHOP}0`, SHOP.replace("E", "e"), "shop.eth"];
const CASES: [string, PaymentRequest, keyof typeof REASONS][] = [
  ["version 1", { ...GOOD, x402Version: 1 }, "version"],
  ["the scheme upto", withTerms({ scheme: "upto" }), "scheme"],
  ["another accepted scheme", { ...GOOD, acceptedScheme: "upto" }, "scheme"],
  ["another chain", withTerms({ network: "eip155:1" }), "network"],
  ["a network name of version 1", withTerms({ network: "base" }), "network"],
  ["another accepted chain", { ...GOOD, acceptedNetwork: "eip155:1" }, "network"],
  ["another token", withTerms({ asset: SHOP }), "terms"],
  ["a payload of Permit2", { ...GOOD, authorization: null }, "payloadType"],
  ["another payee than payTo", withTerms({ payTo: PAYER }), "recipient"],
  ["more than the amount", withAuthorization({ value: "3000001" }), "value"],
  ["less than the amount", withAuthorization({ value: "2999999" }), "value"],
  ...["", "3000000.0", "all"].map((amount): (typeof CASES)[number] => [
    ...([`the amount ${amount}`, withTerms({ amount }), "value"] as const),
  ]),
  ...["0", "1", "1500000", `${2n ** 53n}000000`].map((value): (typeof CASES)[number] => [
    `${value} units`,
    { ...withAuthorization({ value }), terms: { ...GOOD.terms, amount: value } },
    "terms",
  ]),
  ...NO_NUMBERS.flatMap((text) =>
    (["value", "validAfter", "validBefore"] as const).map((field): (typeof CASES)[number] => [
      ...([`${field} ${text.slice(0, 20)}`, withAuthorization({ [field]: text }), "payload"] as const),
    ]),
  ),
  ...NO_ADDRESSES.flatMap((text) =>
    (["from", "to"] as const).map((field): (typeof CASES)[number] => [
      ...([`${field} ${text}`, withAuthorization({ [field]: text }), "payload"] as const),
    ]),
  ),
  ...[
    "",
    "0x",
    "5a".repeat(32),
    `0x${"5a".repeat(31)}`,
    `0x${"5a".repeat(33)}`,
    `0x${"zz".repeat(32)}`,
    `5a0x${"5a".repeat(32)}`,
  ].map((nonce): (typeof CASES)[number] => [`the nonce ${nonce}`, withAuthorization({ nonce }), "payload"]),
];

test.each(CASES)("%s is refused", (_name, request, reason) => {
  const answer = readPayment(request, NETWORK);
  expect(isRefusal(answer)).toBe(true);
  expect(answer).toEqual({
    ...{ reason: REASONS[reason], message: expect.stringMatching(/^(the|asset|amount|x402Version) /) },
  });
});

test.each([
  [NOW - 1n, NOW + 6n, null],
  [NOW, NOW + 60n, "validAfter"],
  [NOW + 1n, NOW + 60n, "validAfter"],
  [0n, NOW + 5n, "validBefore"],
  [0n, NOW, "validBefore"],
  [0n, 0n, "validBefore"],
] as const)("an authorization valid from %s to %s: %s", (validAfter, validBefore, reason) => {
  const authorization = { ...(readPayment(GOOD, NETWORK) as TransferAuthorization), validAfter, validBefore };
  const message = expect.stringMatching(/^the authorization /);
  expect(checkTimes(authorization, NOW)).toEqual(reason && { reason: REASONS[reason], message });
});

test("two authorizations are the same payment when all their fields are equal", () => {
  const one = readPayment(GOOD, NETWORK) as TransferAuthorization;
  expect(isSamePayment(one, { ...one, to: one.to.toLowerCase() })).toBe(true);
  for (const change of [{ to: PAYER }, { units: 1n }, { validAfter: 1n }, { validBefore: 1n }])
    expect(isSamePayment(one, { ...one, ...change })).toBe(false);
});

test("the request that presents an authorization is read as the same authorization", () => {
  const authorization = readPayment(GOOD, NETWORK) as TransferAuthorization;
  const request = exactPayment(authorization, GOOD.signature, NETWORK);
  expect(request).toEqual({
    ...GOOD,
    authorization: { ...GOOD.authorization, nonce: `0x${"ab".repeat(32)}` },
  });
  expect(readPayment(request, NETWORK)).toEqual(authorization);
});
