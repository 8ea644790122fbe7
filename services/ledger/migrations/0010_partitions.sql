-- Which times the journal has partitions for. A request whose id is from outside of them is refused, so one that was done in a partition that
-- is detached can never be done again.
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

-- Makes the partitions of every month up to that of a time. Runs with its owner's rights: the service's role owns nothing.
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
    execute format('create table %I (like entries including all)', 'entries_' || suffix);
    perform attach_journal_partition('postings', suffix, month);
    perform attach_journal_partition('entries', suffix, month);
    insert into journal_partitions values (suffix, month, next_month(month));
    month := next_month(month);
    made := made + 1;
  end loop;
  return made;
end
$$;

-- Attached, not created as a partition: that would lock everybody out of the journal for a moment.
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

-- Takes the oldest month out of the journal, for the archive; the tables stay as they are, outside. For an operator with the owner's rights.
create function detach_oldest_journal_partition() returns text
  language plpgsql
  set search_path from current
as $$
declare
  suffix text;
begin
  select name into strict suffix from journal_partitions order by from_at limit 1;
  execute format('alter table entries detach partition %I', 'entries_' || suffix);
  execute format('alter table postings detach partition %I', 'postings_' || suffix);
  delete from journal_partitions where name = suffix;
  return suffix;
end
$$;
revoke execute on function detach_oldest_journal_partition() from public, wonrail_ledger;

select ensure_journal_partitions(now() + interval '2 months');
