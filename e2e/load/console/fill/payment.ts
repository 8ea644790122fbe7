import { inChunks, type Size, WALLETS_OF_AN_ORGANISATION as WALLETS } from "../numbered";

/** Fills in a transfer for each operation, and payouts. */
export function fillPayment(size: Size): string[] {
  const { organisations, operations } = size;
  const orgId = `id_of('org', o, ${organisations})`;
  const payoutId = `id_of('pyo', o, ${organisations})`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  const isPending = `n >= ${Math.floor(operations * 0.999)}`;
  return [
    ...inChunks(
      size,
      (part) => `
      insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won,
        version, created_at, settled_at)
      select org_id, ref, case when ${isPending} then 'PENDING' else 'COMPLETED' end, from_wallet, '0x1', to_wallet, 1,
        1, at, case when not (${isPending}) then at end
      from ${part}`,
    ),
    `insert into payouts (org_id, payout_id, mode, dry_run, from_wallet_id, status, total_won, row_count,
      accepted_count, accepted_won, created_at, completed_at)
    select ${orgId}, ${payoutId}, 'BEST_EFFORT', false, id_of('wal', o * ${WALLETS}, ${organisations * WALLETS}),
      'COMPLETED', 10, 10, 10, 10, now(), now() ${each}`,
    `insert into payout_rows (org_id, payout_id, row_index, to_wallet_address, amount_won, status)
    select ${orgId}, ${payoutId}, row, '0x1', 1, 'ACCEPTED' ${each}, generate_series(0, 9) row`,
  ];
}
