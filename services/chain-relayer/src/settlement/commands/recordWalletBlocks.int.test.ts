import { testOperator } from "@wonrail/kit/testing";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletBlockChanged } from "@wonrail/proto/relayer/events/v1/events";
import { tokenAbi } from "../../evm/contracts";
import { rescan } from "../../indexer/commands/rescan";
import { scanFinalized } from "../../indexer/commands/scanFinalized";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { blockHashOf, createChainDouble, cursorAt, depsOn, TOKEN } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";

const database = freshDatabase();

test("a wallet's block and unblock are reported once each at finality, also after a rescan", async () => {
  const { db } = database;
  const wallet = { walletId: newId("wal"), orgId: newId("org"), address: `0x${"5".repeat(40)}` };
  await saveWalletAddresses(db, [wallet]);
  await cursorAt(db, 990n);
  const chain = createChainDouble();
  const stranger = `0x${"6".repeat(40)}`;
  chain.logs = [
    blockSet(wallet.address, true, 991n),
    blockSet(stranger, true, 992n),
    blockSet(wallet.address, false, 999n),
  ];
  const deps = depsOn(db, chain);
  while (await scanFinalized(deps));
  expect(await rescan(deps, 985n, testOperator())).toBe("rewound");
  while (await scanFinalized(deps));

  const published = await db.query<{ type: string; aggregate_id: string; payload: Buffer }>(
    sql`select type, aggregate_id, payload from outbox order by id`,
  );
  expect(published.map(({ type, aggregate_id: id }) => [type, id])).toEqual(
    Array(2).fill(["wallet_block_changed", wallet.walletId]),
  );
  const { address: walletAddress, ...names } = wallet;
  expect(published.map(({ payload }) => WalletBlockChanged.decode(payload))).toEqual([
    { ...names, walletAddress, blocked: true, blockNumber: 991n },
    { ...names, walletAddress, blocked: false, blockNumber: 999n },
  ]);
});

function blockSet(account: string, blocked: boolean, blockNumber: bigint) {
  const eventLog = tokenAbi.encodeEventLog("AccountBlockSet", [account, blocked]);
  const place = { blockNumber, blockHash: blockHashOf(blockNumber), txHash: `0x${blockNumber}`, logIndex: 0 };
  return { address: TOKEN, ...eventLog, ...place };
}
