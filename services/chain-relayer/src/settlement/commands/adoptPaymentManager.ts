import { type Database, tx } from "@wonrail/kit/db";
import { findMintRoom, type Provider, tokenOf } from "../../evm";
import {
  findCursor,
  findFurthest,
  listPaymentManagers,
  lockPaymentManagers,
  takeIntoUse,
} from "../../indexer";

export type Adoption =
  | "adopted"
  | "in_use"
  | "nothing_taken_in"
  | "taking_in_again"
  | "not_of_our_token"
  /** Beyond this block, which is the last one taken in, that one can still mint. */
  | { stillMints: string; blockNumber: bigint }
  | "changed_meanwhile";

/**
 * Has operations go through another payment manager. An operation is minted once because its contract marks its name, which another contract does not
 * know: so only when those before can mint nothing more, in a block up to which everything that they minted is taken in. What moves or burns carries
 * nonces of the token's, and is done once whoever asks for it.
 */
export async function adoptPaymentManager(
  { db, provider }: { db: Database; provider: Pick<Provider, "callAt"> },
  address: string,
): Promise<Adoption> {
  const [known, cursor, furthest] = [
    await listPaymentManagers(db),
    await findCursor(db),
    await findFurthest(db),
  ];
  if (known.at(-1) === address.toLowerCase()) return "in_use";
  if (known.length === 0 || !cursor) return "nothing_taken_in";
  const { blockNumber } = cursor;
  if (blockNumber < furthest!.blockNumber) return "taking_in_again";
  const token = await tokenOf(provider, known.at(-1)!, blockNumber);
  if (token === null || (await tokenOf(provider, address, blockNumber)) !== token) return "not_of_our_token";
  for (const before of known.filter((one) => one !== address.toLowerCase())) {
    const contracts = { tokenAddress: token, paymentManagerAddress: before };
    if ((await findMintRoom(provider, contracts, blockNumber)).allowance !== 0n)
      return { stillMints: before, blockNumber };
  }
  return tx(db, async (tx) => {
    if ((await lockPaymentManagers(tx)).at(-1) !== known.at(-1)) return "changed_meanwhile";
    await takeIntoUse(tx, address);
    return "adopted";
  });
}
