import {
  type Block,
  encodeAuthorizationState,
  encodeBalanceOf,
  encodeIsBlocked,
  encodePaused,
  type Provider,
  type TransferAuthorization,
} from "../../evm";
import { type Refusal, refusal } from "../domain/payment";

export interface ChainStateDeps {
  provider: Pick<Provider, "callManyAt">;
  chain: { tokenAddress: string };
}

/** The state of the token for one authorization. */
export interface TokenState {
  /** Why the token refuses it; null if it does not. */
  refusal: Refusal | null;
  /** Tokens of the payer. */
  balance: bigint;
}

/** The token's state for each of these authorizations in this block. */
export async function findTokenStates(
  { provider, chain }: ChainStateDeps,
  authorizations: TransferAuthorization[],
  { number }: Pick<Block, "number">,
): Promise<TokenState[]> {
  const calls = authorizations.flatMap(({ from, to, nonce }) => [
    encodeAuthorizationState(from, nonce),
    encodeBalanceOf(from),
    encodeIsBlocked(from),
    encodeIsBlocked(to),
  ]);
  const answers = await provider.callManyAt(chain.tokenAddress, [encodePaused(), ...calls], number);
  const [paused, ...values] = answers.map(BigInt);
  return authorizations.map(({ units }, index) => {
    const [used, balance, payerBlocked, payeeBlocked] = values.slice(index * 4, index * 4 + 4);
    const reasons = [
      used !== 0n && refusal("nonceUsed", "the authorization was used or cancelled before"),
      balance! < units && refusal("balance", "the payer has too few tokens"),
      payerBlocked !== 0n && refusal("simulation", "the token has blocked the payer"),
      payeeBlocked !== 0n && refusal("simulation", "the token has blocked payTo"),
      paused !== 0n && refusal("simulation", "the token is paused"),
    ];
    return { refusal: reasons.find((reason) => reason !== false) ?? null, balance: balance! };
  });
}
