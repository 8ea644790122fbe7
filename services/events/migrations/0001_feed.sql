-- Organisations with events. The row's lock orders the events of an organisation.
create table organisations (
  org_id text primary key,
  -- Sequence of the newest event.
  last_sequence bigint not null default 0 check (last_sequence >= 0)
) with (fillfactor = 50);

-- Objects of events, each in the form of its read. The next event of the object starts from this
-- row.
create table objects (
  org_id text not null,
  object_id text not null,
  -- Sequence of the object's newest event; 0 before its first.
  sequence bigint not null check (sequence >= 0),
  data json not null,
  -- The reason of a failed settlement. A transfer shows it once it is FAILED.
  failure_reason text,
  primary key (org_id, object_id)
) with (fillfactor = 70);

-- The public events, kept for 30 days.
create table events (
  org_id text not null,
  sequence bigint not null,
  event_id uuid not null,
  type text not null,
  object_id text not null,
  object_sequence bigint not null,
  created_at timestamptz not null,
  data json not null,
  stored_at timestamptz not null default now(),
  primary key (org_id, sequence)
);
-- Begins with the id: operators search for events of any organisation.
create unique index events_by_id on events (event_id, org_id);
create index events_of_object on events (org_id, object_id, sequence);
create index events_of_type on events (org_id, type, sequence);
-- Rows are stored in the order of time, so a small index finds the old ones.
create index events_stored_at on events using brin (stored_at) with (pages_per_range = 32, autosummarize = on);

-- The balance of each wallet after its newest ledger entry. Wallet events show it.
create table balances (
  org_id text not null,
  wallet_id text not null,
  balance_won bigint not null,
  available_won bigint not null,
  primary key (org_id, wallet_id)
) with (fillfactor = 70);

-- The charge or payment that a cancellation or a refund in parts belongs to, for its settlement.
create table cancellations (
  org_id text not null,
  cancel_id text not null,
  object_id text not null,
  primary key (org_id, cancel_id)
);

-- Metadata that a partner changed. The ledger entry of a later event of the object has the metadata of its command.
create table changed_metadata (
  org_id text not null,
  -- The id of the object or of its cancellation.
  object_id text not null,
  metadata json not null,
  version bigint not null,
  primary key (org_id, object_id)
);

-- Settlements that arrived before their ledger entry, because the two come by different feeds.
create table early_settlements (
  org_id text not null,
  ledger_ref text not null,
  event_id uuid not null,
  settlement json not null,
  occurred_at timestamptz not null,
  stored_at timestamptz not null default now(),
  primary key (org_id, ledger_ref, event_id)
);
create index early_settlements_stored_at on early_settlements (stored_at);

-- API keys that can still expire, for the event api_key.expiring.
create table api_keys (
  org_id text not null,
  key_id text not null,
  -- The life of the key. An advance of the organisation's test clock moves both to the past.
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  -- The key in the form of its read.
  data json not null,
  -- The shortest warning that was given, in days before the expiry.
  warned_days integer,
  primary key (org_id, key_id)
);
create index api_keys_expiring on api_keys (expires_at);
