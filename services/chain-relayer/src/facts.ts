import { type Database } from "@wonrail/kit/db";
import { recordDeposits } from "./deposits";
import { type Provider } from "./evm";
import { type ConsumeFacts } from "./indexer";
import { recordMovements } from "./reconciliation";
import { findFinalTransactions, markTransaction } from "./sender";
import {
  replanUnexecuted,
  applyOutcomes,
  type PullDeps,
  pullExecutedEntries,
  recordWalletBlocks,
} from "./settlement";
import { applyUses, closePayment } from "./x402";

export interface FactDeps extends PullDeps {
  db: Database;
  provider: Provider;
  chain: { network: string };
}

/** The way in from the chain: hands the facts of final blocks to the flows that consume them. */
export function consumeFacts(deps: FactDeps): ConsumeFacts {
  const { network } = deps.chain;
  return async (range) => {
    const final = await findFinalTransactions(deps, range.to);
    await pullExecutedEntries(deps, range);
    return async (tx) => {
      const orders = await applyOutcomes(tx, range, network);
      await recordMovements(tx, range, orders);
      await recordDeposits(tx, range, orders);
      await recordWalletBlocks(tx, range);
      await applyUses(tx, range);
      // Last, because settled operations are no longer in flight.
      for (const transaction of final) {
        await markTransaction(tx, transaction.transactionId, "FINAL");
        await replanUnexecuted(tx, transaction.transactionId, transaction.succeeded);
        await closePayment(tx, transaction);
      }
    };
  };
}
