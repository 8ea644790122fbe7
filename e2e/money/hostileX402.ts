import { type Hostile } from "./hostile";

// The fields of payments by x402 that are no JSON of the right form. payment.test.ts of
// chain-relayer has the values in the right form that are refused in x402's words.

const NO_TEXT = ["null", "0", "true", "[]", "{}"];
const NO_OBJECT = ["null", "0", "true", "[]", '"x"'];
const NO_VERSION = ["null", '"2"', "2.5", "true", "[]"];
const NO_AMOUNT = [...NO_TEXT, '""', '"-1"', '"1.5"', '"0x1"', '"1e6"', `"${"9".repeat(79)}"`];
const NO_SIGNATURE = [...NO_TEXT, '""', '"0x1"', '"0xzz"', `"0x${"00".repeat(1_025)}"`];
const NO_TERM = [...NO_TEXT, `"${"x".repeat(201)}"`];

const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";
const terms = { scheme: "exact", network: "eip155:31337", asset: ADDRESS, amount: "1000000", payTo: ADDRESS };
const authorization = {
  ...{ from: ADDRESS, to: ADDRESS, value: "1000000" },
  ...{ validAfter: "0", validBefore: "4102444800", nonce: `0x${"5a".repeat(32)}` },
};
const good = {
  x402Version: 2,
  paymentPayload: {
    ...{ x402Version: 2, accepted: terms },
    payload: { authorization, signature: `0x${"01".repeat(65)}` },
  },
  paymentRequirements: terms,
};

const FIELDS: Record<string, string[]> = {
  x402Version: NO_VERSION,
  paymentRequirements: NO_OBJECT,
  "paymentRequirements.amount": NO_AMOUNT,
  "paymentPayload.x402Version": NO_VERSION,
  "paymentPayload.payload": NO_OBJECT,
  "paymentPayload.payload.signature": NO_SIGNATURE,
  "paymentPayload.payload.authorization": NO_OBJECT,
};
for (const name of ["scheme", "network", "asset", "payTo"]) {
  FIELDS[`paymentRequirements.${name}`] = NO_TERM;
  FIELDS[`paymentPayload.accepted.${name}`] = NO_TERM;
}
for (const name of ["from", "to", "nonce"]) FIELDS[`paymentPayload.payload.authorization.${name}`] = NO_TERM;
for (const name of ["value", "validAfter", "validBefore"])
  FIELDS[`paymentPayload.payload.authorization.${name}`] = NO_AMOUNT;

/** Each field with each invalid value. */
export function hostileX402(): Hostile[] {
  return ["/x402/verify", "/x402/settle"].flatMap((path) =>
    Object.entries(FIELDS).flatMap(([field, values]) =>
      values.map((value) => ({
        ...{ name: `${path} ${field}: ${value.slice(0, 40)}`, method: "POST", path, field },
        ...{ json: spoilt(field.split("."), value), codes: ["REQ_001"] },
      })),
    ),
  );
}

function spoilt(path: string[], value: string): string {
  const marked = JSON.stringify(replaced(good, path));
  return marked.replace('"(spoilt)"', value);
}

function replaced(object: object, [name, ...rest]: string[]): object {
  const inner = (object as Record<string, object>)[name!]!;
  return { ...object, [name!]: rest.length === 0 ? "(spoilt)" : replaced(inner, rest) };
}
