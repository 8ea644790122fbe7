import { inChunks, type Size, sqlHash, sqlPlaces, WALLETS_OF_AN_ORGANISATION as WALLETS } from "../numbered";

export const OPERATIONS_OF_A_TRANSACTION = 100;
const MOST_OPEN = 10_000;

/** The newest thousandth is open: waiting, planned, and some BLOCKED. */
export function countOpen({ operations }: Size): number {
  return Math.min(MOST_OPEN, Math.ceil(operations / 1_000));
}

/** Queues, operations with their legs and transactions, and what the screens show beside them. */
export function fillRelayer(size: Size, signer: string): string[] {
  const { organisations, operations } = size;
  const orgId = `id_of('org', o, ${organisations})`;
  const walletId = `id_of('wal', o * ${WALLETS} + i, ${organisations * WALLETS})`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  const isOpen = `n >= ${operations - countOpen(size)}`;
  const state = `case when not (${isOpen}) then 'CONFIRMED'
    when n % 100 = 3 then 'BLOCKED' when n % 10 = 2 then 'PLANNED' else 'WAITING' end`;
  const confirmed = (value: string) => `case when state = 'CONFIRMED' then ${value} end`;
  const transaction = `n / ${OPERATIONS_OF_A_TRANSACTION}`;
  return [
    `insert into settlement_queues (org_id, head_sequence, cursor_sequence, behind_since, paused_reason)
    select ${orgId}, places + case when o % 100 = 0 then 10 else 0 end, places,
      case when o % 100 = 0 then now() - interval '1 minute' end,
      case when o % 1000 = 5 then 'incident 7 (kim)' end
    ${each}, lateral (select ${sqlPlaces("o", size)} as places) p`,
    ...inChunks(
      size,
      (part) => `
      insert into operations (org_id, ledger_ref, org_sequence, related_id, kind, operation_id, steps, from_wallets,
        wallets, state, wait_reason,
        transaction_id, tx_hash, block_number, block_hash, gas_used, changed_at, created_at)
      select org_id, ref, place + 1, ref, 'INTENT_KIND_TRANSFER', ${sqlHash("operation", "n")},
        ('[{"kind": "TRANSFER", "fromWalletId": "' || from_wallet || '", "toWalletId": "' || to_wallet
          || '", "toAddress": null, "amountWon": "1", "nonce": "'
          || ${sqlHash("nonce", "n")} || '"}]')::jsonb,
        array[from_wallet], array[from_wallet, to_wallet], state,
        case when state = 'BLOCKED' then 'unreadable' when state = 'PLANNED' then 'ERC20InsufficientBalance' end,
        ${confirmed(`${transaction} + 1`)}, ${confirmed(`'0x' || ${sqlHash("tx", `(${transaction})`)}`)},
          ${confirmed(transaction)},
        ${confirmed(`'0x' || ${sqlHash("block", `(${transaction})`)}`)}, ${confirmed("42000")}, at, at
      from ${part}, lateral (select ${state} as state) s order by n`,
    ),
    ...inChunks(
      size,
      (part) => `
      insert into legs (from_wallet_id, nonce, org_id, ledger_ref)
      select from_wallet, ${sqlHash("nonce", "n")}, org_id, ref from ${part}`,
    ),
    ...inChunks(
      size,
      (part) => `
      insert into used_authorizations (from_wallet_id, nonce, tx_hash, block_number, block_hash, to_address, units)
      select from_wallet, ${sqlHash("nonce", "n")}, '0x' || ${sqlHash("tx", `(${transaction})`)}, ${transaction},
        '0x' || ${sqlHash("block", `(${transaction})`)}, '0x' || lpad(to_hex(payee), 40, '0'), 1000000
      from ${part} where not (${isOpen})`,
    ),
    `insert into transactions (signer, nonce, epoch, recipient, call_data, gas_limit, state, sends, sent_at)
    select '${signer}', t, 1, '0x1', '', 4200000, 'FINAL', 1, now() from generate_series(0,
      ${Math.floor(operations / OPERATIONS_OF_A_TRANSACTION)}) t`,
    `insert into transaction_versions (tx_hash, transaction_id, raw, max_fee_wei, priority_fee_wei)
    select '0x' || ${sqlHash("tx", "t")}, t + 1, '', 2000000000, 1000000000 from generate_series(0,
      ${Math.floor(operations / OPERATIONS_OF_A_TRANSACTION)}) t`,
    `insert into signers (address, next_nonce, holder, epoch) values ('${signer}',
      ${Math.floor(operations / OPERATIONS_OF_A_TRANSACTION)}, 'relayer-1', 1)`,
    `insert into signer_balances (address, hour, began_at, measured_at, balance_wei, spent_wei)
    select '${signer}', h, h, h, 1e18, 1e15 from generate_series(date_trunc('hour', now()) - interval '2 days', now(),
      interval '1 hour') h`,
    `insert into wallet_addresses (wallet_id, org_id, address)
    select ${walletId}, ${orgId}, '0x' || lpad(to_hex(o * ${WALLETS} + i), 40, '0') ${each}, generate_series(0,
      ${WALLETS - 1}) i`,
    `insert into settled_balances (org_id, account_id, units)
    select ${orgId}, ${walletId}, 1000000000 ${each}, generate_series(0, ${WALLETS - 1}) i`,
    `insert into deposits (tx_hash, log_index, block_number, block_hash, org_id, wallet_id, from_address, units,
      amount_won, ledger_ref, state, credited_at)
    select '0x' || ${sqlHash("deposit", "o")}, 0, o, '0x1', ${orgId}, ${walletId}, '0xf', 1000000, 1, id_of('trf', o,
      ${organisations}), 'CREDITED', now()
    ${each}, generate_series(0, 0) i`,
    `insert into drifts (org_id, wallet_id, kind, expected, actual, block_number, acknowledged_at, acknowledged_by)
    select ${orgId}, ${walletId}, 'CHAIN', 1, 2, 1, case when o % 500 > 0 then now() end, case when o % 500 > 0 then 'kim' end
    ${each}, generate_series(0, 0) i where o % 10 = 0`,
    `insert into supply_points (hour, compared_at, block_number, supply_units, wallet_units)
    select h, h, 1, 1000000, 1000000 from generate_series(date_trunc('hour', now()) - interval '31 days', now(),
      interval '1 hour') h`,
    `insert into scan_cursor (block_number, block_hash, block_time) values (${operations}, '0x1',
      extract(epoch from now())::bigint)`,
  ];
}
