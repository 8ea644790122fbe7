import { randomBytes } from "node:crypto";
import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { type Database } from "@wonrail/kit/db";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import { tokenAbi, TOPICS } from "../evm/contracts";
import { type ChainLog } from "../evm/logs";
import { type NewOperation } from "../settlement/store/operations";
import { findAddresses, saveWalletAddresses } from "../indexer/store/walletAddresses";
import { blockHashOf, PAYMENT_MANAGER, TOKEN } from "./chainDouble";

/**
 * The contracts' logs of an executed operation: the movement of each step, and then its name. Gives
 * its wallets addresses.
 */
export async function executionOf(
  db: Database,
  { orgId, operationId, steps }: NewOperation,
  blockNumber: bigint,
  { txHash = `0x${operationId}`, firstIndex = 0 } = {},
): Promise<ChainLog[]> {
  const addressOf = async (walletId: string | null): Promise<string> => {
    if (walletId === null) return ZERO_ADDRESS;
    const address = `0x${randomBytes(20).toString("hex")}`;
    await saveWalletAddresses(db, [{ walletId, orgId, address }]);
    return (await findAddresses(db, [walletId])).get(walletId)!;
  };
  const logs: Pick<ChainLog, "address" | "topics" | "data">[] = [];
  for (const { fromWalletId, toWalletId, toAddress, amountWon } of steps) {
    const parties = [await addressOf(fromWalletId), toAddress ?? (await addressOf(toWalletId))];
    const moved = tokenAbi.encodeEventLog("Transfer", [...parties, wonToTokenUnits(amountWon)]);
    logs.push({ address: TOKEN, ...moved });
  }
  logs.push({ address: PAYMENT_MANAGER, topics: [TOPICS.executed, `0x${operationId}`], data: "0x" });
  const blockHash = blockHashOf(blockNumber);
  return logs.map((log, index) => ({ ...log, blockNumber, blockHash, txHash, logIndex: firstIndex + index }));
}

/** The payment manager's log of a repeated operation. */
export function repetitionOf({ operationId }: NewOperation, blockNumber: bigint): ChainLog {
  return {
    ...{ address: PAYMENT_MANAGER, topics: [TOPICS.repeated, `0x${operationId}`], data: "0x" },
    ...{ blockNumber, blockHash: blockHashOf(blockNumber), logIndex: 0 },
    txHash: `0x${operationId.slice(0, 60)}beef`,
  };
}
