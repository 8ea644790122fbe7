-- The settlement of a ledger entry or hold in chain-relayer's newest event. No row means PENDING.
create table settlements (
  org_id text not null,
  ledger_ref text not null,
  -- The event's version. The later change is newer when two events have the same version.
  -- While a rebuild has not confirmed the row, the version is negative.
  version bigint not null,
  changed_at timestamptz not null,
  status text not null check (status in ('SUBMITTED', 'CONFIRMED', 'FAILED')),
  network text not null,
  tx_hash text,
  block_number bigint,
  -- The outside address of a deposit.
  counterparty text,
  -- The proof of a FAILED operation: a final block past validBefore in which the authorization was unused.
  failure_reason text,
  proof_block_number bigint,
  proof_block_hash text,
  primary key (org_id, ledger_ref),
  check (status <> 'FAILED' or (failure_reason is not null and proof_block_hash is not null)),
  check (status <> 'CONFIRMED' or (tx_hash is not null and block_number is not null))
);
create index settlements_unconfirmed on settlements (org_id) where version < 0;
