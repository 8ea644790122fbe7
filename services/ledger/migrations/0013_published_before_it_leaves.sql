-- A hold that waited long is posted under an id of its own, old month, which may then leave at once. What the outbox still has of such an entry could never be
-- published any more, and who follows the account's lines would wait for it for ever.
-- Takes the oldest month out of the journal, for the archive; the tables stay as they are, outside. For an operator with the owner's rights.
create or replace function detach_oldest_journal_partition() returns text
  language plpgsql
  set search_path from current
  -- While it waits for who reads the journal, everybody who posts waits behind it: it gives up soon and is tried again.
  set lock_timeout = '5s'
as $$
declare
  -- A charge can be cancelled for 30 days and a key gives its answer for 32, and both look for the entry: twice that.
  kept constant interval := '62 days';
  month journal_partitions;
  open_holds text[];
  newest timestamptz;
  oldest_kept timestamptz;
begin
  select * into strict month from journal_partitions order by from_at limit 1;
  if month.until_at > now() then
    raise exception 'the month % is not over yet', month.name using errcode = 'object_not_in_prerequisite_state';
  end if;
  if month.until_at + kept > now() then
    raise exception 'the month % ended less than % ago: until then its charges may be cancelled and its requests asked again', month.name, kept
      using errcode = 'object_not_in_prerequisite_state', hint = format('it may leave from %s on', month.until_at + kept);
  end if;

  -- Nobody else is kept waiting but who writes into this very month. From here on it gets no more lines, and no more holds: each has an entry.
  execute format('lock table %I, %I in share mode', 'entries_' || month.name, 'postings_' || month.name);
  select array_agg(request_prefix || '_' || replace(id::text, '-', '') order by id) into open_holds
  from holds where state = 'open' and id < uuid_from(month.until_at);
  if open_holds is not null then
    raise exception 'the month % has % open holds, the oldest is %: they are posted or voided under ids of that month',
      month.name, cardinality(open_holds), open_holds[1] using errcode = 'object_not_in_prerequisite_state';
  end if;

  -- The outbox names entries, and their events are built from the journal, again when they are asked for again. Ids are taken in about the order of
  -- time, and no transaction takes an hour.
  execute format('select max(posted_at) from %I', 'entries_' || month.name) into newest;
  select occurred_at into oldest_kept from outbox order by id limit 1;
  if newest + interval '1 hour' > oldest_kept then
    raise exception 'the month % has entries as young as %, whose events are not published or may be published again', month.name, newest
      using errcode = 'object_not_in_prerequisite_state', hint = 'it may leave when the outbox has forgotten them: a day after they were published';
  end if;

  execute format(
    'insert into detached_postings (account_number, first_sequence, last_sequence, amount_won, balance_after_won)
     select account_number, min(sequence), max(sequence), sum(amount_won), (array_agg(balance_after_won order by sequence desc))[1]
     from (select *, sequence - row_number() over (partition by account_number order by sequence) as run from %I) p
     group by account_number, run', 'postings_' || month.name);
  execute format('alter table entries detach partition %I', 'entries_' || month.name);
  execute format('alter table postings detach partition %I', 'postings_' || month.name);
  delete from journal_partitions where name = month.name;
  return month.name;
end
$$;
