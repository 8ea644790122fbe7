-- What operators decided about operations that cannot end by themselves.
create table operator_decisions (
  decision_id bigint generated always as identity primary key,
  org_id text not null,
  ledger_ref text not null,
  decision text not null check (decision in ('settled_elsewhere', 'give_up', 'sign_anew')),
  reason text not null check (reason <> ''),
  -- The transaction that has settled the operation.
  tx_hash text,
  decided_by text not null,
  decided_at timestamptz not null default now(),
  foreign key (org_id, ledger_ref) references operations
);
