-- The Idempotency-Keys of requests, with their answers. The transaction of the effect writes the row.
create table idempotency_keys (
  org_id text not null,
  operation text not null,
  key text not null check (char_length(key) between 1 and 255),
  -- SHA-256 of the request's body and path.
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- Null while the operation is under way in several transactions.
  answer json,
  stored_at timestamptz not null default now(),
  primary key (org_id, operation, key)
);
create index idempotency_keys_stored_at on idempotency_keys (stored_at);
