-- One row for each command that was taken on. Its id is also the ledger's request id, so a retry from anywhere posts the same thing once.
create table operations (
  org_id text not null,
  operation_id text not null,
  kind text not null check (kind in ('TRANSFER', 'CHARGE', 'CANCEL_CHARGE', 'REFUND', 'PAY', 'CANCEL_PAYMENT')),
  -- Null: the request is its own key, and nobody can ask for it again.
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  body_hash bytea not null,
  -- The command as it was understood, with the facts that must not change between two tries.
  input jsonb not null,
  -- CLAIMED: its outcome is open, whoever finds it may go on. RELEASED: certainly not posted, and only its own key takes it up again.
  state text not null check (state in ('CLAIMED', 'RELEASED', 'DONE', 'REFUSED')),
  -- The answer that every replay gets.
  answer bytea,
  request_id text not null,
  traceparent text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, operation_id),
  check ((state in ('DONE', 'REFUSED')) = (answer is not null))
) with (fillfactor = 80);

create unique index operations_by_key on operations (org_id, kind, idempotency_key) where idempotency_key is not null;
create index operations_open on operations (updated_at) where state = 'CLAIMED';
create index operations_by_time on operations (created_at);
