-- The times for which the journal has partitions. A request id from another time is refused. So requests
-- from a detached month cannot happen again.
create table journal_partitions (
  name text primary key,
  from_at timestamptz not null,
  until_at timestamptz not null
);
revoke insert, update, delete, truncate on journal_partitions from wonrail_ledger;

-- The smallest UUIDv7 of a time.
create function uuid_from(at timestamptz) returns uuid
  language sql immutable
  return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create function next_month(month timestamptz) returns timestamptz
  language sql immutable
  return ((month at time zone 'UTC') + interval '1 month') at time zone 'UTC';

-- Creates the partitions of every month up to that of a time. Runs with its owner's rights, because
-- the service's role owns nothing.
create function ensure_journal_partitions(until_time timestamptz) returns integer
  language plpgsql security definer
  set search_path from current
as $$
declare
  month timestamptz;
  suffix text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('ensure_journal_partitions'), hashtext(current_schema()));
  month := coalesce(
    (select max(until_at) from journal_partitions),
    date_trunc('month', now() - interval '1 month', 'UTC')
  );
  while month <= until_time loop
    suffix := to_char(month at time zone 'UTC', 'YYYY_MM');
    execute format('create table %I (like postings including all)', 'postings_' || suffix);
    execute format('create unique index on %I (account_number, sequence)', 'postings_' || suffix);
    -- Rows are stored in the order of their ids, so small indexes find the rows of a time.
    execute format('create index on %I using brin (entry_id) with (pages_per_range = 32, autosummarize = on)', 'postings_' || suffix);
    execute format('create table %I (like entries including all)', 'entries_' || suffix);
    perform index_entries_partition('entries_' || suffix);
    perform attach_journal_partition('postings', suffix, month);
    perform attach_journal_partition('entries', suffix, month);
    insert into journal_partitions values (suffix, month, next_month(month));
    month := next_month(month);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- The indexes of a month's entries: commit order, the caller's reference, the request that an entry
-- cancels or ends, and the id in any organisation.
create function index_entries_partition(partition text) returns void
  language plpgsql
  set search_path from current
as $$
begin
  execute format('create unique index on %I (org_id, org_sequence) where org_sequence is not null', partition);
  execute format('create index on %I (reference, org_id, org_sequence) where reference is not null', partition);
  execute format('create index on %I (org_id, original_id) where original_id is not null', partition);
  execute format('create index on %I using brin (id) with (pages_per_range = 32, autosummarize = on)', partition);
end
$$;
revoke execute on function index_entries_partition(text) from public, wonrail_ledger;

-- Attaches a table. Creating it as a partition would lock the journal for a moment.
create function attach_journal_partition(parent text, suffix text, month timestamptz) returns void
  language plpgsql
  set search_path from current
as $$
begin
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, parent || '_' || suffix, uuid_from(month), uuid_from(next_month(month)));
  execute format('revoke insert, update, delete, truncate on %I from wonrail_ledger', parent || '_' || suffix);
end
$$;
revoke execute on function attach_journal_partition(text, text, timestamptz) from public, wonrail_ledger;

-- Detached postings: one row per run of an account's sequence. Verification needs them, because a
-- month's postings may lie in the middle of an account's chain.
create table detached_postings (
  account_number bigint not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  amount_won bigint not null,
  balance_after_won bigint not null,
  constraint detached_postings_key primary key (account_number, first_sequence),
  constraint detached_postings_in_order check (first_sequence between 1 and last_sequence)
);
revoke insert, update, delete, truncate on detached_postings from wonrail_ledger;

-- Detached entries: one row per run of an organisation's sequence.
create table detached_entries (
  org_id uuid not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  constraint detached_entries_key primary key (org_id, first_sequence),
  constraint detached_entries_in_order check (first_sequence between 1 and last_sequence)
);
revoke insert, update, delete, truncate on detached_entries from wonrail_ledger;

-- Detaches the oldest month of the journal, for the archive. The tables stay in the schema
-- unchanged. An operator calls it with the owner's rights.
create function detach_oldest_journal_partition() returns text
  language plpgsql
  set search_path from current
  -- While it waits for a reader of the journal, every posting waits behind it. So it gives up soon.
  set lock_timeout = '5s'
as $$
declare
  -- A charge can be cancelled for 30 days and a key is kept for 32 days. Both need the entry.
  kept constant interval := '62 days';
  month journal_partitions;
  open_holds text[];
  keyed bigint;
  unpublished bigint;
begin
  select * into strict month from journal_partitions order by from_at limit 1;
  if month.until_at > now() then
    raise exception 'the month % is not over yet', month.name using errcode = 'object_not_in_prerequisite_state';
  end if;
  if month.until_at + kept > now() then
    raise exception 'the month % ended less than % ago: until then its charges may be cancelled and its requests asked again', month.name, kept
      using errcode = 'object_not_in_prerequisite_state', hint = format('it may leave from %s on', month.until_at + kept);
  end if;

  -- Blocks only writers of this month, which gets no more postings and holds from here on.
  execute format('lock table %I, %I in share mode', 'entries_' || month.name, 'postings_' || month.name);
  select array_agg(request_prefix || '_' || replace(id::text, '-', '') order by id) into open_holds
  from holds where state = 'open' and id < uuid_from(month.until_at);
  if open_holds is not null then
    raise exception 'the month % has % open holds, the oldest is %: they are posted or voided under ids of that month',
      month.name, cardinality(open_holds), open_holds[1] using errcode = 'object_not_in_prerequisite_state';
  end if;

  select count(*) into keyed from request_keys where request_id < uuid_from(month.until_at);
  if keyed > 0 then
    raise exception 'the month % has % requests whose idempotency keys are still kept', month.name, keyed
      using errcode = 'object_not_in_prerequisite_state', hint = 'it may leave when they are pruned: 32 days after their requests';
  end if;

  -- An event of the month that is not published yet would reach consumers after its entry is gone.
  execute format(
    'select count(*) from outbox_pending p join outbox o using (id)
     join %I e on e.org_id = right(o.org_id, 32)::uuid and e.org_sequence = o.version', 'entries_' || month.name)
  into unpublished;
  if unpublished > 0 then
    raise exception 'the month % has % entries whose events are not published yet', month.name, unpublished
      using errcode = 'object_not_in_prerequisite_state', hint = 'it may leave when the relay has published them';
  end if;

  execute format(
    'insert into detached_postings (account_number, first_sequence, last_sequence, amount_won, balance_after_won)
     select account_number, min(sequence), max(sequence), sum(amount_won), (array_agg(balance_after_won order by sequence desc))[1]
     from (select *, sequence - row_number() over (partition by account_number order by sequence) as run from %I) p
     group by account_number, run', 'postings_' || month.name);
  execute format(
    'insert into detached_entries (org_id, first_sequence, last_sequence)
     select org_id, min(org_sequence), max(org_sequence)
     from (select org_id, org_sequence, org_sequence - row_number() over (partition by org_id order by org_sequence) as run
       from %I where org_sequence is not null) e
     group by org_id, run', 'entries_' || month.name);
  execute format('alter table entries detach partition %I', 'entries_' || month.name);
  execute format('alter table postings detach partition %I', 'postings_' || month.name);
  delete from journal_partitions where name = month.name;
  return month.name;
end
$$;
revoke execute on function detach_oldest_journal_partition() from public, wonrail_ledger;

select ensure_journal_partitions(now() + interval '2 months');
