-- Transactions that partners have recorded.
create table records (
  org_id text not null,
  -- Derived from created_at, so that records sort by it.
  record_id text not null,
  from_network text not null,
  to_network text not null,
  payment_type text not null check (payment_type in ('INSTANT', 'SCHEDULED')),
  from_address text not null,
  to_address text not null,
  tx_hash text,
  amount numeric(78, 0) not null check (amount >= 0),
  fee numeric(78, 0) check (fee >= 0),
  memo text,
  reference text,
  -- The pairs of the request, and all pairs after the last change of them.
  metadata jsonb not null default '{}',
  changed_metadata jsonb,
  scheduled_at timestamptz,
  status text not null check (status in ('PENDING', 'CONFIRMED', 'FAILED')),
  failure_reason text,
  -- Work of the service on the record. INSTANT: WATCHED on the service's network. SCHEDULED:
  -- WAITING for its time, STARTED by one replica, SENT as a transfer. UNATTENDED: its owner
  -- maintains the status. DONE: the status is final.
  run text not null check (run in ('WATCHED', 'WAITING', 'STARTED', 'SENT', 'UNATTENDED', 'DONE')),
  -- Time of the next look.
  run_at timestamptz,
  attempts integer not null default 0,
  transfer_id text,
  version bigint not null,
  request_id text not null,
  traceparent text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The Idempotency-Key of the request and the hash of its body, kept as long as the record.
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  body_hash bytea,
  primary key (org_id, record_id),
  constraint records_key_has_hash check ((idempotency_key is null) = (body_hash is null)),
  constraint records_instant_has_hash check (payment_type <> 'INSTANT' or tx_hash is not null),
  constraint records_scheduled_has_time check ((payment_type = 'SCHEDULED') = (scheduled_at is not null)),
  constraint records_scheduled_in_one_network check (payment_type <> 'SCHEDULED' or from_network = to_network),
  constraint records_hash_lower_case check (tx_hash = lower(tx_hash)),
  constraint records_reason_needs_failure check (failure_reason is null or status = 'FAILED'),
  constraint records_sent_has_transfer check (run <> 'SENT' or transfer_id is not null),
  constraint records_done_is_final check ((run = 'DONE') = (status <> 'PENDING')),
  constraint records_run_has_time check ((run in ('WATCHED', 'WAITING', 'STARTED', 'SENT')) = (run_at is not null))
) with (fillfactor = 90, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Operators search for a record or a hash of any organisation.
create unique index records_by_id on records (record_id);
create index records_by_hash on records (tx_hash) where tx_hash is not null;
create unique index records_hash on records (org_id, from_network, tx_hash) where payment_type = 'INSTANT';
create index records_by_reference on records (org_id, reference, record_id) where reference is not null;
create index records_by_state on records (org_id, status, payment_type, record_id);
create index records_by_sender on records (org_id, from_address, status, payment_type, record_id);
create unique index records_by_key on records (org_id, idempotency_key) where idempotency_key is not null;
-- The usual filter by address is one walk along each of these indexes.
create index records_sender_newest on records (org_id, from_address, record_id);
create index records_recipient_newest on records (org_id, to_address, record_id) include (from_address);
-- With the sender, so that a count need not visit the rows of transfers to oneself.
create index records_recipient_states on records (org_id, to_address, status, payment_type, record_id) include (from_address);
create index records_due on records (run, run_at) where run_at is not null;
-- How long a due record waits is read every ten seconds.
create index records_waiting on records (scheduled_at) where run in ('WAITING', 'STARTED');
-- Recorded hashes are looked up in turns of organisations.
create index records_watched on records (org_id, run_at) where run = 'WATCHED';

-- Every change of a record: new state, time and author. Its version is the event's.
create table record_changes (
  org_id text not null,
  record_id text not null,
  version bigint not null,
  status text not null,
  scheduled_at timestamptz,
  reason text,
  changed_by text not null check (changed_by in ('api', 'chain', 'scheduler')),
  changed_at timestamptz not null,
  primary key (org_id, record_id, version),
  foreign key (org_id, record_id) references records
);
