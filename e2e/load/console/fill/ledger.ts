import { inChunks, type Size, sqlPlaces, WALLETS_OF_AN_ORGANISATION as WALLETS } from "../numbered";

const RICH_WON = 1_000_000_000;

/** Accounts, and one transfer for each operation. Payers and payees of an organisation take turns. */
export function fillLedger(size: Size): string[] {
  const { organisations } = size;
  const orgId = (number: string) => `uuid_text('org', ${number}, ${organisations})::uuid`;
  const each = `from generate_series(0::bigint, ${organisations - 1}) o`;
  // A wallet pays in the tenth of the places that have its number, and is paid in the place before.
  const paid = `(places - i + ${WALLETS - 1}) / ${WALLETS}`;
  const got = `(places - (i + ${WALLETS - 1}) % ${WALLETS} + ${WALLETS - 1}) / ${WALLETS}`;
  return [
    `insert into accounts (org_id, id, number, type, user_id, opened_at, balance_won, sequence)
    select ${orgId("o")}, uuid_text('wal', o * ${WALLETS} + i, ${organisations * WALLETS})::uuid,
      o * ${WALLETS} + i + 1, 1, 'user-' || i,
      time_of(o, ${organisations}), ${RICH_WON} + ${got} - ${paid}, ${got} + ${paid}
    ${each}, lateral (select ${sqlPlaces("o", size)} as places) p, generate_series(0, ${WALLETS - 1}) i`,
    `update accounts set frozen_by_operator = 1 where number % 9973 = 0`,
    `insert into journal_heads select ${orgId("o")}, ${sqlPlaces("o", size)} ${each}`,
    ...inChunks(
      size,
      (operations) => `
      insert into entries (org_id, id, request_prefix, kind, content_hash, posted_at, org_sequence, reference,
        account_numbers, sequences, origin)
      select right(org_id, 32)::uuid, right(ref, 32)::uuid, 'trf', 6, right(ref, 32)::uuid, at, place + 1,
        case when n % 10 = 1 then 'order-' || n end,
        array[payer + 1, payee + 1], array[${PAYER_SEQUENCE}, ${PAYEE_SEQUENCE}],
        'req_' || uuid_text('req', n, ${size.operations}) || ' ' || md5(n::text)
      from ${operations} order by n`,
    ),
    ...inChunks(
      size,
      (operations) => `
      insert into postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
      select payer + 1, ${PAYER_SEQUENCE}, -1, ${RICH_WON} - case when place % ${WALLETS} = 0 then 1 else 0 end,
        right(ref, 32)::uuid, right(org_id, 32)::uuid, 1
      from ${operations}
      union all
      select payee + 1, ${PAYEE_SEQUENCE}, 1, ${RICH_WON} + case when ${IS_PAID_LAST} then 0 else 1 end, right(ref,
        32)::uuid, right(org_id, 32)::uuid, 1
      from ${operations}`,
    ),
    ...inChunks(
      size,
      (operations) => `
      insert into request_keys (org_id, scope, key, request_id, body_hash, created_at)
      select right(org_id, 32)::uuid, 'TRF', 'key-' || n, right(ref, 32)::uuid, sha256('body'), at from ${operations}`,
    ),
    `insert into holds (org_id, id, request_prefix, account_number, amount_won, to_address, limit_day, sequence, state, placed_at)
    select ${orgId("o")}, uuid_text('hld', o, ${organisations})::uuid, 'trf', o * ${WALLETS} + 1, 1, '0x' || repeat('1',
      40), 20000, 0, 'open', now()
    ${each} where o % 100 = 0`,
    `insert into traffic_minutes select date_trunc('minute', now()) - make_interval(mins => m), 500,
      500 from generate_series(1, 20 * 1440) m`,
    `insert into verifications values ('accounts', now(), 0, '{}'), ('journal', now(), 0, '{}')`,
  ];
}

const PAYER_SEQUENCE = `2 * (place / ${WALLETS}) + case when place % ${WALLETS} = 0 then 1 else 2 end`;
/** Wallet 0 is paid after it has paid, every other wallet before. */
const IS_PAID_LAST = `place % ${WALLETS} = ${WALLETS - 1}`;
const PAYEE_SEQUENCE = `2 * (place / ${WALLETS}) + case when ${IS_PAID_LAST} then 2 else 1 end`;
