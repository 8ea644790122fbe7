-- The one way in which postings are written and balances change: the service's role has no other right to either. Adds the very rows that it
-- inserts to their accounts, so a balance is the sum of its postings because it is made of nothing else; and refuses what the engine promises
-- never to send: an entry that does not sum to zero over two postings or more, a posting that does not follow its account's sequence without a
-- gap, a balance other than the one that was decided. What is no movement (held, limit, closing) comes with the account as it was decided.
create function write_postings(
  -- One element for each posting.
  numbers bigint[], sequences bigint[], amounts bigint[], balances_after bigint[], entry_ids uuid[], org_ids uuid[], types smallint[],
  -- One element for each account that is touched.
  touched bigint[], balances bigint[], held bigint[], limits_used bigint[], limit_days integer[], blocks integer[], closed timestamptz[]
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
      balance_won = a.balance_won + coalesce(s.amount_won, 0),
      sequence = a.sequence + coalesce(s.postings, 0),
      held_won = t.held_won,
      closed_at = t.closed_at
    from unnest(touched, balances, held, limits_used, limit_days, blocks, closed)
      as t (number, balance_won, held_won, limit_used_won, limit_day, block_types, closed_at)
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

-- The journal is append-only, and its accounts are moved by nothing but the function. Rights on a partition are taken away where it is made.
revoke update, delete, truncate on entries, type_blocks, credits, cancelled_payments from wonrail_ledger;
revoke insert, update, delete, truncate on postings from wonrail_ledger;
revoke delete, truncate on holds, cancelled_charges from wonrail_ledger;
revoke update, delete, truncate on accounts from wonrail_ledger;
-- SELECT … FOR UPDATE asks for the right to update some column; this one tells nobody anything.
grant update (opened_at) on accounts to wonrail_ledger;
