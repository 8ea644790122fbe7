import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { findMintRoom, type Provider, tokenOf } from "../../evm";
import {
  findCursor,
  findFurthestBlock,
  listPaymentManagers,
  lockPaymentManagers,
  savePaymentManager,
} from "../../indexer";

export type Adoption =
  | "adopted"
  | "in_use"
  | "nothing_ingested"
  | "rescanning"
  | "not_of_our_token"
  /** That payment manager can still mint after this block, the last ingested one. */
  | { stillMints: string; blockNumber: bigint }
  | "changed_meanwhile";

/**
 * Sends later operations through another payment manager. Each contract marks its own operations as
 * executed, so a new one would mint again. So the earlier ones must be unable to mint, at a block
 * up to which all their mints are ingested. Transfers and burns use the token's nonces, and happen
 * once through any contract.
 */
export async function adoptPaymentManager(
  { db, provider }: { db: Database; provider: Pick<Provider, "callAt"> },
  address: string,
  operator: ActingOperator,
): Promise<Adoption> {
  const [known, cursor, furthest] = [
    await listPaymentManagers(db),
    await findCursor(db),
    await findFurthestBlock(db),
  ];
  if (known.at(-1) === address.toLowerCase()) return "in_use";
  if (known.length === 0 || !cursor) return "nothing_ingested";
  const { blockNumber } = cursor;
  if (blockNumber < furthest!.blockNumber) return "rescanning";
  const token = await tokenOf(provider, known.at(-1)!, blockNumber);
  if (token === null || (await tokenOf(provider, address, blockNumber)) !== token) return "not_of_our_token";
  for (const before of known.filter((one) => one !== address.toLowerCase())) {
    const contracts = { tokenAddress: token, paymentManagerAddress: before };
    if ((await findMintRoom(provider, contracts, blockNumber)).allowance !== 0n)
      return { stillMints: before, blockNumber };
  }
  return tx(db, async (tx) => {
    if ((await lockPaymentManagers(tx)).at(-1) !== known.at(-1)) return "changed_meanwhile";
    await savePaymentManager(tx, address);
    const before = known.at(-1)!;
    const effect = `Settle later operations through the payment manager ${address} instead of ${before}.`;
    await recordOperatorAction(tx, operator, { subject: address, effect, details: { before } });
    return "adopted";
  });
}
