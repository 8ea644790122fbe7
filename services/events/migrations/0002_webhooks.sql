-- Endpoints of partners that get events pushed.
create table webhooks (
  org_id text not null,
  webhook_id text not null,
  url text not null,
  -- Empty: all types.
  event_types text[] not null,
  description text not null,
  status text not null check (status in ('ENABLED', 'DISABLED')),
  -- Why it is DISABLED: the partner asked, the endpoint answered 410, it failed for five days, or an operator did it.
  disabled_reason text check (disabled_reason in ('REQUESTED', 'GONE', 'FAILING', 'OPERATOR')),
  ordering text not null check (ordering in ('NONE', 'OBJECT')),
  -- The secret, sealed under a key-encryption key. After a rotation the one before signs too, until its time ends.
  secret_version integer not null,
  kek_id text not null,
  sealed_secret bytea not null,
  previous_kek_id text,
  previous_sealed_secret bytea,
  previous_ends_at timestamptz,
  -- Deliveries were made of the events up to this sequence.
  after_sequence bigint not null check (after_sequence >= 0),
  -- The first failed attempt since the last success.
  failing_since timestamptz,
  -- The last warning about that: 50 or 75 percent of five days.
  warned_percent integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, webhook_id),
  check ((status = 'DISABLED') = (disabled_reason is not null)),
  check ((previous_sealed_secret is null) = (previous_ends_at is null))
) with (fillfactor = 70);

-- Operators name a webhook without its organisation, and look at those in trouble.
create unique index webhooks_by_id on webhooks (webhook_id);
create index webhooks_by_trouble on webhooks (failing_since, org_id, webhook_id);
create index webhooks_disabled on webhooks (org_id, webhook_id) where disabled_reason in ('GONE', 'FAILING', 'OPERATOR');

-- A delivery: an event for an endpoint, until an attempt succeeds or no attempt is left.
create table deliveries (
  org_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  event_id uuid not null,
  event_type text not null,
  object_id text not null,
  -- The event's sequence. Null for a test.
  sequence bigint,
  status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- The end of the lease of an attempt, or of the pause after a failed one. Null: due.
  waits_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (org_id, webhook_id, delivery_id),
  foreign key (org_id, webhook_id) references webhooks on delete cascade
) with (fillfactor = 70);
create index deliveries_due on deliveries (org_id, webhook_id, next_attempt_at, sequence)
  where status = 'PENDING' and waits_until is null;
create index deliveries_waiting on deliveries (waits_until) where status = 'PENDING' and waits_until is not null;
create index deliveries_of_object on deliveries (org_id, webhook_id, object_id, sequence) where status = 'PENDING';
create index deliveries_failed on deliveries (org_id, webhook_id, delivery_id) where status = 'FAILED';
create index deliveries_of_event on deliveries (event_id);
create index deliveries_finished on deliveries (finished_at) where finished_at is not null;

-- The attempts of a delivery, with the request and the answer of the endpoint.
create table attempts (
  org_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  -- Line and headers of the request. Null when none was sent, because the event is no longer kept.
  request_head text,
  -- Null when no answer came.
  status_code integer,
  response_head text,
  error text,
  primary key (org_id, webhook_id, delivery_id, number),
  foreign key (org_id, webhook_id, delivery_id) references deliveries on delete cascade
);
