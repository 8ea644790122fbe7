import { rawSql } from "@wonrail/kit/db";
import { OperationConfirmed } from "@wonrail/proto/relayer/events/v1/events";
import { deliver } from "./testing/events";
import { asOwner, openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

test("transfers that the ledger does not end, however many, keep none behind them waiting", async () => {
  const { walletId: fromWalletId } = await world.openWallet({ amountWon: 5_000 });
  const value = { fromWalletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
  const { transferId } = valueOf(await world.execute({ $case: "transfer", value }), "transfer");
  // Of their holds the ledger knows nothing.
  await asOwner(
    world.payment,
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, amount_won, created_at, updated_at)
     select org_id, 'trf_' || lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7000800000000000' || lpad(n::text, 4, '0'),
       status, from_wallet_id, to_wallet_address, amount_won, created_at, updated_at - interval '1 hour'
     from transfers, generate_series(1, 450) n`,
  );
  await asOwner(
    world.payment,
    `insert into settlements (org_id, ledger_ref, status, network, tx_hash, block_number)
     select org_id, transfer_id, 'CONFIRMED', 'N', '0x', 1 from transfers where transfer_id <> '${transferId}'`,
  );
  const word = { ledgerRef: transferId, network: "N", txHash: `0x${"b".repeat(64)}`, blockNumber: 3n };
  const payload = OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish();
  await deliver(world, "operation_confirmed", payload);

  for (let rounds = 0; rounds < 3; rounds += 1) {
    await expect(world.app().settleTransfers()).rejects.toThrow("450 transfers could not be ended");
  }
  const left = rawSql("select count(*) as left from transfers where status = 'PENDING'");
  expect(await world.payment.db.one(left)).toEqual({ left: 450n });
  expect(await world.balances(fromWalletId)).toEqual([4_000]);
}, 60_000);
