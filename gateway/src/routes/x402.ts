import { z } from "zod";
import { type ErrorCode } from "@wonrail/kit/contract/errors";
import { type X402Payment } from "@wonrail/proto/relayer/v1/relayer";
import { type Clients } from "../clients";
import { type ForeignFormat, type Handler, operation } from "./operation";

// Wonrail as an x402 facilitator: x402 version 2, scheme `exact`, our token only. Requests and
// answers have x402's format, so that its clients work unchanged.

const SETTLE_WAIT_MS = 20_000;
/** The call also checks the chain and commits. */
const SETTLE_CALL_MS = SETTLE_WAIT_MS + 8_000;

/** The refusal codes of malformed requests. */
const MALFORMED: readonly ErrorCode[] = ["REQ_001", "REQ_006", "REQ_007"];

const supportedFormat: ForeignFormat = { refusalFields: {}, refusalOf: () => ({}) };
const word = z.string().meta({ description: "Why, in a word of x402." });
const forPeople = z.string().meta({ description: "The code and the message of `error`." });
const empty = z.literal("").meta({ description: "Always empty." });

const verifyFormat: ForeignFormat = {
  refusalFields: {
    isValid: z.literal(false).meta({ description: "Always false." }),
    invalidReason: word,
    invalidMessage: forPeople,
  },
  refusalOf: ({ code, message }) => ({
    isValid: false,
    invalidReason: MALFORMED.includes(code) ? "invalid_payload" : "unexpected_verify_error",
    invalidMessage: `${code}: ${message}`,
  }),
};
const settleFormat: ForeignFormat = {
  refusalFields: { errorReason: word, errorMessage: forPeople, transaction: empty, network: empty },
  refusalOf: ({ code, message }) => ({
    errorReason: MALFORMED.includes(code) ? "invalid_payload" : "unexpected_settle_error",
    errorMessage: `${code}: ${message}`,
    ...{ transaction: "", network: "" },
  }),
};

const text = z.string().max(200);
const units = (description: string) =>
  z
    .string()
    .regex(/^[0-9]{1,78}$/, { error: "must be a whole number in digits" })
    .meta({ description });

const terms = z
  .looseObject({
    scheme: text.meta({ description: "Must be `exact`." }),
    network: text.meta({ description: "The chain in CAIP-2, such as `eip155:31337`." }),
    asset: text.meta({ description: "The address of the token." }),
    amount: units("The amount in the token's smallest unit. 1 KRW is 1000000; parts of it are refused."),
    payTo: text.meta({ description: "The address of a wallet of yours." }),
  })
  .meta({
    id: "X402PaymentRequirements",
    description: "The terms of a payment, by x402. Other fields are ignored.",
  });

const authorization = z
  .looseObject({
    from: text.meta({ description: "The payer's address." }),
    to: text.meta({ description: "The same address as `payTo`." }),
    value: units("The same as `amount`."),
    validAfter: units("Not valid before, in seconds since 1970."),
    validBefore: units("Not valid from this time on, in seconds since 1970."),
    nonce: text.meta({ description: "0x and 64 hex digits. Each works once." }),
  })
  .meta({ id: "X402Authorization", description: "The message TransferWithAuthorization of ERC-3009." });

const paymentPayload = z
  .looseObject({
    x402Version: z.int().meta({ description: "Must be 2." }),
    accepted: terms,
    payload: z
      .looseObject({
        authorization: authorization.optional(),
        signature: z
          .string()
          .regex(/^0x([0-9a-fA-F]{2}){0,1024}$/, { error: "must be 0x and at most 1,024 bytes in hex" })
          .meta({ description: "The payer's EIP-712 signature: of a key, or by ERC-1271 of a contract." }),
      })
      .meta({ description: "The payer's signed authorization." }),
  })
  .meta({
    id: "X402PaymentPayload",
    description: "The payment that the payer signed, by x402. Other fields are ignored.",
  });

const paymentBody = z
  .looseObject({
    x402Version: z.int().meta({ description: "Must be 2." }),
    paymentPayload,
    paymentRequirements: terms,
  })
  .meta({
    id: "X402PaymentRequest",
    description: "A request of an x402 resource server to its facilitator.",
  });

const payer = z.string().meta({ description: "The payer's address." });
const reason = (description: string) => z.string().optional().meta({ description });

export const getX402Support = operation({
  id: "getX402Support",
  tag: "x402",
  summary: "Read what the facilitator supports",
  description: "Answers the network, the token and the address that pays for the gas, in x402's format.",
  access: "full",
  foreignFormat: supportedFormat,
  status: 200,
  data: z
    .strictObject({
      kinds: z
        .array(
          z.strictObject({
            x402Version: z.int().min(2).max(2).meta({ description: "The version of x402: 2." }),
            scheme: z.literal("exact").meta({ description: "The payment scheme." }),
            network: z.string().meta({ description: "The chain in CAIP-2." }),
            extra: z
              .strictObject({
                asset: z.string().meta({ description: "The address of the token." }),
                name: z.string().meta({ description: "The name in the token's EIP-712 domain." }),
                version: z.string().meta({ description: "The version in the token's EIP-712 domain." }),
              })
              .meta({ description: "What a price in this token needs." }),
          }),
        )
        .meta({ description: "The supported kind of payment." }),
      extensions: z.array(z.string()).meta({ description: "Always empty." }),
      signers: z
        .record(z.string(), z.array(z.string()))
        .meta({ description: "The addresses that pay for the gas, by the family of chains." }),
    })
    .meta({ id: "X402Support" }),
  errors: [],
});

export const verifyX402Payment = operation({
  id: "verifyX402Payment",
  tag: "x402",
  summary: "Verify a payment",
  description:
    "Checks the payment and changes nothing: form, terms, wallet, times, signature, and on the chain the nonce, " +
    "the payer's balance and blocks. A payment that was given to settle is not valid again.",
  access: "full",
  foreignFormat: verifyFormat,
  body: paymentBody,
  status: 200,
  data: z
    .strictObject({
      isValid: z.boolean().meta({ description: "Whether the payment can be settled now." }),
      invalidReason: reason("Why not, in a word of x402."),
      invalidMessage: reason("Why not, for people."),
      payer: payer.optional(),
    })
    .meta({ id: "X402Verification" }),
  errors: [],
  whenUnknown: "The request changed nothing: send it again.",
});

export const settleX402Payment = operation({
  id: "settleX402Payment",
  tag: "x402",
  summary: "Settle a payment",
  description:
    "Sends the payment to the chain, pays the gas, and waits up to 20 seconds for a block. The wallet is credited " +
    "when the block is final (`deposit.credited`). The same payment again is not sent again: the response has the " +
    "hash of the transaction that moved the money. `settlement_pending` means that no block has it yet: send the " +
    "same request again.",
  access: "full",
  waitMs: SETTLE_WAIT_MS,
  foreignFormat: settleFormat,
  body: paymentBody,
  status: 200,
  data: z
    .strictObject({
      success: z.boolean().meta({ description: "Whether the money has moved." }),
      errorReason: reason("Why not, in a word of x402."),
      errorMessage: reason("Why not, for people."),
      payer: payer.optional(),
      transaction: z.string().meta({ description: "The hash of the transaction; empty when there is none." }),
      network: z.string().meta({ description: "The chain in CAIP-2, as it was asked for." }),
      amount: z.string().optional().meta({ description: "The amount that has moved." }),
    })
    .meta({ id: "X402Settlement" }),
  errors: [],
  whenUnknown: "Send the same request again: a payment is settled once.",
});

type Relayer = Pick<Clients, "relayer">;

export function getX402SupportWith({ relayer }: Relayer): Handler<typeof getX402Support> {
  return async () => {
    const { chainId, tokenAddress, tokenName, tokenVersion, signerAddress } = await relayer.getX402Support(
      {},
      { retry: true },
    );
    const extra = { asset: tokenAddress, name: tokenName, version: tokenVersion };
    const kind = { x402Version: 2, scheme: "exact", network: `eip155:${chainId}`, extra } as const;
    return { data: { kinds: [kind], extensions: [], signers: { "eip155:*": [signerAddress] } } };
  };
}

export function verifyX402PaymentWith({ relayer }: Relayer): Handler<typeof verifyX402Payment> {
  return async ({ body }, { principal: { orgId } }) => {
    const { refusal } = await relayer.verifyX402Payment({ orgId, payment: paymentOf(body) }, { retry: true });
    const invalid = refusal && { invalidReason: refusal.reason, invalidMessage: refusal.message };
    return { data: { isValid: refusal === undefined, ...invalid, ...payerOf(body) } };
  };
}

export function settleX402PaymentWith({ relayer }: Relayer): Handler<typeof settleX402Payment> {
  return async ({ body }, { principal: { orgId } }) => {
    const asked = { orgId, payment: paymentOf(body), waitMs: SETTLE_WAIT_MS };
    // A repetition is the same settlement.
    const { refusal, txHash = "" } = await relayer.settleX402Payment(asked, {
      retry: true,
      timeoutMs: SETTLE_CALL_MS,
    });
    const { network, amount } = body.paymentRequirements;
    const outcome = refusal
      ? { success: false, errorReason: refusal.reason, errorMessage: refusal.message }
      : { success: true, amount };
    return { data: { ...outcome, ...payerOf(body), transaction: txHash, network } };
  };
}

type Body = z.output<typeof paymentBody>;

function payerOf({ paymentPayload: { payload } }: Body): { payer?: string } {
  return payload.authorization === undefined ? {} : { payer: payload.authorization.from };
}

function paymentOf({ x402Version, paymentPayload, paymentRequirements }: Body): X402Payment {
  const { accepted, payload } = paymentPayload;
  return {
    x402Version: paymentPayload.x402Version === x402Version ? x402Version : 0,
    acceptedScheme: accepted.scheme,
    acceptedNetwork: accepted.network,
    terms: paymentRequirements,
    authorization: payload.authorization,
    signature: Buffer.from(payload.signature.slice(2), "hex"),
  };
}
