-- The audit trail of this service's admin RPCs. A row is written in the transaction of its action.
-- Each row carries the hash of the row before, so a changed, removed or inserted row breaks the
-- chain. The head names the last row, so a cut-off end is found too.
create table operator_actions (
  sequence bigint primary key,
  occurred_at timestamptz not null,
  operator text not null,
  roles text[] not null,
  -- The name in the client's certificate. Null without TLS.
  client text,
  method text not null,
  -- Null for an action that concerns no single organisation.
  org_id text,
  subject text not null,
  reason text not null,
  -- The JSON text that was hashed; jsonb would not keep its bytes.
  details text not null,
  request_id text not null,
  previous_hash bytea not null,
  hash bytea not null,
  constraint operator_actions_sequence_positive check (sequence > 0),
  constraint operator_actions_has_operator check (operator <> '' and cardinality(roles) > 0),
  constraint operator_actions_has_reason check (reason <> ''),
  constraint operator_actions_hashes_are_sha256 check (octet_length(previous_hash) = 32 and octet_length(hash) = 32)
);

-- The end of the chain. Each action locks this single row.
create table operator_action_head (
  is_only boolean primary key default true,
  sequence bigint not null,
  hash bytea not null,
  constraint operator_action_head_is_only check (is_only)
);
insert into operator_action_head (sequence, hash) values (0, decode(repeat('00', 32), 'hex'));

-- The service may only insert actions and move the head.
do $$ begin
  execute format('revoke update, delete on operator_actions from %I', 'wonrail_' || current_schema());
  execute format('revoke insert, delete on operator_action_head from %I', 'wonrail_' || current_schema());
end $$;
