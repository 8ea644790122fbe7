import { inChunks, type Size, sqlHash, WALLETS_OF_AN_ORGANISATION as WALLETS } from "../numbered";

/** Seeds, wallets, and one signed authorization for each operation. */
export function fillWallet(size: Size): string[] {
  const { organisations } = size;
  const orgId = `id_of('org', o, ${organisations})`;
  const walletId = `id_of('wal', o * ${WALLETS} + i, ${organisations * WALLETS})`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  return [
    `insert into seeds (org_id, version, kek_id, sealed, next_index) select ${orgId}, 1, 'test', sha256(o::text::bytea),
      ${WALLETS} ${each}`,
    `insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status, created_at)
    select ${orgId}, ${walletId}, 'user-' || o || '-' || i, 'NORMAL', '0x' || lpad(to_hex(o * ${WALLETS} + i), 40, '0'),
      i, 'ACTIVE', time_of(o, ${organisations})
    ${each}, generate_series(0, ${WALLETS - 1}) i`,
    ...inChunks(
      size,
      (operations) => `
      insert into authorizations (org_id, ledger_ref, from_wallet_id, kind, to_address, nonce, amount_won, valid_before,
        signed_at)
      select org_id, ref, from_wallet, 'TRANSFER', '0x' || lpad(to_hex(payee), 40, '0'),
        decode(${sqlHash("nonce", "n")}, 'hex'), 1, at + interval '1 hour', at
      from ${operations}`,
    ),
    `insert into signing_refusals (org_id, ledger_ref, from_wallet_id, reason)
    select ${orgId}, 'trf_' || o, ${walletId}, 'hourly_limit' ${each}, generate_series(0, 0) i where o % 100 = 3`,
    `insert into velocity (scope, hour, amount_won)
    select 'wallet:' || ${walletId}, date_trunc('hour', now()), 1000 ${each}, generate_series(0, ${WALLETS - 1}) i`,
  ];
}
