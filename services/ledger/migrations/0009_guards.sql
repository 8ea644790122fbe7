-- What the engine promises, asked again of every statement that writes postings, whoever wrote it: each entry sums to zero over two postings
-- or more; each account's new postings follow one another without a gap up to the sequence that the account now has, and end at its balance.
-- Together with the update that adds the very postings it inserts (store/postings.ts) this makes sequences gap-free from 1 and balances
-- equal to the sum of the postings. The settings keep a plan that was made for a small batch right for a large one.
create function check_postings() returns trigger
  language plpgsql
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  wrong text;
begin
  select entry_id::text into wrong from added group by entry_id having sum(amount_won) <> 0 or count(*) < 2 limit 1;
  if found then
    raise exception 'entry % does not sum to zero over two postings or more', wrong
      using errcode = 'check_violation', constraint = 'postings_balanced';
  end if;

  select s.account_number::text into wrong
  from (
    select account_number, count(*) as postings, min(sequence) as first, max(sequence) as last
    from added group by account_number
  ) s
  left join accounts a on a.number = s.account_number and a.sequence = s.last
  where a.number is null or s.last - s.first + 1 <> s.postings
  limit 1;
  if found then
    raise exception 'the postings of account % do not follow its sequence', wrong
      using errcode = 'check_violation', constraint = 'postings_gap_free';
  end if;

  select p.account_number::text into wrong
  from added p join accounts a on a.number = p.account_number and a.sequence = p.sequence
  where a.balance_won <> p.balance_after_won
  limit 1;
  if found then
    raise exception 'the postings of account % do not end at its balance', wrong
      using errcode = 'check_violation', constraint = 'postings_end_at_balance';
  end if;
  return null;
end
$$;

create trigger postings_checked after insert on postings
  referencing new table as added for each statement execute function check_postings();

-- The journal is append-only. Rights on a partition are taken away where it is made.
revoke update, delete, truncate on entries, postings, type_blocks, credits, cancelled_payments from wonrail_ledger;
revoke delete, truncate on accounts, holds, cancelled_charges from wonrail_ledger;
