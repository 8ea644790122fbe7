-- The audit trail of organisations and keys. Each entry carries the hash of the entry before, so a
-- changed, removed or inserted entry breaks the chain. The head names the last entry, so a cut-off
-- end is found too.
create table audit_entries (
  org_id uuid not null references organisations,
  sequence bigint not null,
  occurred_at timestamptz not null,
  actor text not null,
  action text not null,
  subject text not null,
  -- The JSON text that was hashed; jsonb would not keep its bytes.
  details text not null,
  request_id text not null,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (org_id, sequence),
  constraint audit_entries_sequence_positive check (sequence > 0),
  constraint audit_entries_hashes_are_sha256 check (octet_length(previous_hash) = 32 and octet_length(hash) = 32)
);

create table audit_heads (
  org_id uuid primary key references organisations,
  sequence bigint not null,
  hash bytea not null
);

-- The service may only insert audit entries.
revoke update, delete on audit_entries from wonrail_auth;
revoke delete on audit_heads from wonrail_auth;
