import { DomainError } from "@wonrail/kit/contract/errors";
import {
  encodeIsValidSignature,
  hashTransferAuthorization,
  isValidSignatureAnswer,
  type Provider,
  readKeySignature,
  RpcRefusal,
  RpcUnanswered,
} from "../../evm";
import { type WalletClient } from "../../indexer";
import { checkTimes, type Refusal, refusal } from "../domain/payment";
import { findTokenStates } from "../queries/findTokenStates";
import { type Payment } from "../store/payments";
import { type AskedPayment, type ReadDeps } from "./readForWallet";

export interface AcceptDeps extends ReadDeps {
  wallet: Pick<WalletClient, "findWalletsByAddress" | "getWalletFacts">;
  provider: Pick<Provider, "latestBlock" | "callAt" | "callManyAt">;
  now: () => number;
}

/** The parts of an accepted payment that the request does not have. */
export interface Accepted {
  signature: Payment["signature"];
  /** In this block the nonce was unused. */
  unusedBlock: bigint;
}

/** Checks times, wallet, signature and the state of the token. */
export async function checkAcceptance(deps: AcceptDeps, asked: AskedPayment): Promise<Accepted | Refusal> {
  const { wallet, provider, now } = deps;
  const { orgId, walletId, authorization } = asked;
  const { deactivatedWalletIds } = await wallet.getWalletFacts({ orgId, walletIds: [walletId] });
  if (deactivatedWalletIds.length > 0) return refusal("terms", "the wallet of payTo is deactivated");
  try {
    const latest = await provider.latestBlock();
    const nowSeconds = BigInt(Math.floor(now() / 1000));
    const early = checkTimes(authorization, latest.time > nowSeconds ? latest.time : nowSeconds);
    if (early) return early;
    const signature = await findSignature(deps, asked, latest.number);
    if (signature === null) return refusal("signature", "the payer has not signed this authorization");
    const [state] = await findTokenStates(deps, [authorization], latest);
    return state!.refusal ?? { signature, unusedBlock: latest.number };
  } catch (error) {
    throw outageOf(error);
  }
}

/** While the chain is away, the request has changed nothing. */
export function outageOf(error: unknown): unknown {
  return error instanceof RpcUnanswered ? new DomainError("SYS_002", null, { cause: error }) : error;
}

/** The signature of a key, or by ERC-1271 of a contract; null if the payer has not signed. */
async function findSignature(
  { provider, chain }: AcceptDeps,
  { authorization, signature }: AskedPayment,
  blockNumber: bigint,
): Promise<Buffer | null> {
  const hash = hashTransferAuthorization(chain, authorization);
  const ofKey = readKeySignature(hash, authorization.from, signature);
  if (ofKey) return ofKey;
  try {
    const call = encodeIsValidSignature(hash, signature);
    const answer = await provider.callAt(authorization.from, call, blockNumber);
    return isValidSignatureAnswer(answer) ? Buffer.from(signature) : null;
  } catch (error) {
    if (error instanceof RpcRefusal) return null;
    throw error;
  }
}
