-- Inserts postings and changes balances. The service's role can do neither in another way. A balance is
-- the sum of its postings, because the function adds the very rows that it inserts. The function refuses
-- an entry that does not sum to zero over two postings or more, a posting that leaves a gap in its
-- account's sequence, and a balance that differs from the decided one. Holds, limits, freezes and closing come with
-- the account as it was decided.
create function write_postings(
  -- An element per posting.
  numbers bigint[], sequences bigint[], amounts bigint[], balances_after bigint[], entry_ids uuid[], org_ids uuid[], types smallint[],
  -- An element per touched account.
  touched bigint[], balances bigint[], held bigint[], limits_used bigint[], limit_days integer[], blocks integer[],
  chain_freezes smallint[], operator_freezes smallint[], closed timestamptz[]
) returns void
  language plpgsql security definer
  set search_path from current
as $$
declare
  unbalanced bigint;
  posted_to bigint;
  updated bigint;
  updated_with_postings bigint;
begin
  with lines as materialized (
    select * from unnest(numbers, sequences, amounts, balances_after, entry_ids, org_ids, types)
      as l (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
  ), posted as (
    insert into postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
    select * from lines
  ), sums as (
    select account_number, sum(amount_won)::bigint as amount_won, count(*) as postings, min(sequence) as first, max(sequence) as last
    from lines group by account_number
  ), changed as (
    update accounts a set
      limit_used_won = t.limit_used_won,
      limit_day = t.limit_day,
      block_types = t.block_types,
      frozen_by_chain = t.frozen_by_chain,
      frozen_by_operator = t.frozen_by_operator,
      balance_won = a.balance_won + coalesce(s.amount_won, 0),
      sequence = a.sequence + coalesce(s.postings, 0),
      held_won = t.held_won,
      closed_at = t.closed_at
    from unnest(touched, balances, held, limits_used, limit_days, blocks, chain_freezes, operator_freezes, closed)
      as t (number, balance_won, held_won, limit_used_won, limit_day, block_types, frozen_by_chain, frozen_by_operator, closed_at)
    left join sums s on s.account_number = t.number
    where a.number = t.number
      and a.balance_won + coalesce(s.amount_won, 0) = t.balance_won
      and (s.postings is null or (s.first = a.sequence + 1 and s.last = a.sequence + s.postings))
    returning s.postings
  )
  select
    (select count(*) from (select from lines group by entry_id having sum(amount_won) <> 0 or count(*) < 2) u),
    (select count(*) from sums),
    (select count(*) from changed),
    (select count(postings) from changed)
  into unbalanced, posted_to, updated, updated_with_postings;

  if unbalanced > 0 then
    raise exception '% entries do not sum to zero over two postings or more', unbalanced
      using errcode = 'check_violation', constraint = 'postings_balanced';
  end if;
  if updated <> cardinality(touched) or updated_with_postings <> posted_to then
    raise exception 'the postings do not follow the sequences and balances of their accounts'
      using errcode = 'check_violation', constraint = 'postings_follow';
  end if;
end
$$;

-- The journal is append-only. Rights on a partition are revoked where the partition is made.
revoke update, delete, truncate on entries, type_blocks, credits, cancelled_payments from wonrail_ledger;
revoke insert, update, delete, truncate on postings from wonrail_ledger;
revoke delete, truncate on holds, cancelled_charges, refunded_payments, journal_heads from wonrail_ledger;
revoke update, truncate on request_keys from wonrail_ledger;
revoke update, delete, truncate on accounts from wonrail_ledger;
-- SELECT … FOR UPDATE needs the right to update some column. No statement updates this one.
grant update (opened_at) on accounts to wonrail_ledger;
