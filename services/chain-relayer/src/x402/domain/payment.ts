import { MAX_WON, TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { readAddress, sameAddress } from "@wonrail/kit/contract/address";
import { type TransferAuthorization } from "../../evm";

/** A payment as it is asked for. Texts are unchecked, numbers are in digits. */
export interface PaymentRequest {
  x402Version: number;
  acceptedScheme: string;
  acceptedNetwork: string;
  terms: { scheme: string; network: string; asset: string; amount: string; payTo: string };
  /** Null for a payload of another kind than ERC-3009. */
  authorization: {
    from: string;
    to: string;
    value: string;
    validAfter: string;
    validBefore: string;
    nonce: string;
  } | null;
  signature: Uint8Array;
}

/** A reason in the words of x402's own facilitator, and an explanation for people. */
export interface Refusal {
  reason: string;
  message: string;
}

export const REASONS = {
  version: "invalid_x402_version",
  scheme: "invalid_exact_evm_scheme",
  network: "invalid_exact_evm_network_mismatch",
  payload: "invalid_payload",
  payloadType: "unsupported_payload_type",
  terms: "invalid_payment_requirements",
  recipient: "invalid_exact_evm_recipient_mismatch",
  validBefore: "invalid_exact_evm_payload_authorization_valid_before",
  validAfter: "invalid_exact_evm_payload_authorization_valid_after",
  value: "invalid_exact_evm_payload_authorization_value_mismatch",
  signature: "invalid_exact_evm_signature",
  nonceUsed: "invalid_exact_evm_nonce_already_used",
  balance: "invalid_exact_evm_insufficient_balance",
  simulation: "invalid_exact_evm_transaction_simulation_failed",
  failed: "invalid_exact_evm_transaction_failed",
  pending: "settlement_pending",
  /** Ours: x402 has no word for it. */
  gasLimit: "facilitator_gas_limit_reached",
} as const;

/** A transaction needs this long to get into a block. */
const LEAST_SECONDS = 6n;
const SCHEME = "exact";
const VERSION = 2;

export interface Network {
  chainId: bigint;
  tokenAddress: string;
}

/** CAIP-2. */
function networkOf({ chainId }: Pick<Network, "chainId">): string {
  return `eip155:${chainId}`;
}

/** The authorization of a payment whose form and terms fit our token. Never changes with time. */
export function readPayment(request: PaymentRequest, network: Network): TransferAuthorization | Refusal {
  const { terms } = request;
  if (request.x402Version !== VERSION) return refusal("version", "x402Version must be 2");
  if (terms.scheme !== SCHEME || request.acceptedScheme !== SCHEME)
    return refusal("scheme", "the scheme must be exact");
  const ours = networkOf(network);
  if (terms.network !== ours || request.acceptedNetwork !== ours)
    return refusal("network", `the network must be ${ours}`);
  if (!sameAddress(terms.asset, network.tokenAddress))
    return refusal("terms", `asset must be ${network.tokenAddress}`);
  if (request.authorization === null)
    return refusal("payloadType", "the payload must be an authorization of ERC-3009");
  const authorization = readAuthorization(request.authorization);
  if (authorization === null)
    return refusal("payload", "the authorization has a malformed address, number or nonce");
  return checkTerms(authorization, terms) ?? authorization;
}

function checkTerms(
  { to, units }: TransferAuthorization,
  { amount, payTo }: PaymentRequest["terms"],
): Refusal | null {
  if (!sameAddress(to, payTo))
    return refusal("recipient", "the authorization is for another address than payTo");
  if (units !== readUnits(amount))
    return refusal("value", "the authorization is for another value than amount");
  if (units === 0n || units % TOKEN_UNITS_PER_WON !== 0n)
    return refusal("terms", `amount must be whole KRW: a multiple of ${TOKEN_UNITS_PER_WON}`);
  if (units / TOKEN_UNITS_PER_WON > MAX_WON)
    return refusal("terms", `amount is more than the ledger can credit: ${MAX_WON} KRW`);
  return null;
}

/** The request that presents this authorization. */
export function exactPayment(
  { from, to, units, validAfter, validBefore, nonce }: TransferAuthorization,
  signature: Uint8Array,
  network: Network,
): PaymentRequest {
  const amount = units.toString();
  const ours = networkOf(network);
  return {
    ...{ x402Version: VERSION, acceptedScheme: SCHEME, acceptedNetwork: ours, signature },
    terms: { scheme: SCHEME, network: ours, asset: network.tokenAddress, amount, payTo: to },
    authorization: {
      ...{ from, to, value: amount, nonce: `0x${nonce}` },
      ...{ validAfter: validAfter.toString(), validBefore: validBefore.toString() },
    },
  };
}

/** Whether the authorization can get into a block now. */
export function checkTimes(
  { validAfter, validBefore }: TransferAuthorization,
  nowSeconds: bigint,
): Refusal | null {
  if (validBefore < nowSeconds + LEAST_SECONDS)
    return refusal("validBefore", "the authorization has expired, or expires within 6 seconds");
  return validAfter < nowSeconds ? null : refusal("validAfter", "the authorization is not valid yet");
}

/** Whether the two authorizations of one payer and nonce move the same money. */
export function isSamePayment(one: TransferAuthorization, other: TransferAuthorization): boolean {
  return (
    sameAddress(one.to, other.to) &&
    one.units === other.units &&
    one.validAfter === other.validAfter &&
    one.validBefore === other.validBefore
  );
}

export function refusal(reason: keyof typeof REASONS, message: string): Refusal {
  return { reason: REASONS[reason], message };
}

export function isRefusal(of: object): of is Refusal {
  return "reason" in of;
}

function readAuthorization(
  given: NonNullable<PaymentRequest["authorization"]>,
): TransferAuthorization | null {
  const [from, to] = [readAddress(given.from), readAddress(given.to)];
  const [units, validAfter, validBefore] = [given.value, given.validAfter, given.validBefore].map(readUnits);
  const [, nonce] = /^0x([0-9a-f]{64})$/.exec(given.nonce.toLowerCase()) ?? [];
  if (!from || !to || nonce === undefined) return null;
  if (units == null || validAfter == null || validBefore == null) return null;
  return { from, to, units, validAfter, validBefore, nonce };
}

/** Numbers of the chain have 256 bits. Null for other text. */
function readUnits(text: string): bigint | null {
  if (!/^[0-9]{1,78}$/.test(text)) return null;
  const value = BigInt(text);
  return value < 2n ** 256n ? value : null;
}
