-- One row for each ledger entry or hold. Its steps and names follow from the ledger, so the same entry always gives the same row.
create table operations (
  org_id text not null,
  ledger_ref text not null,
  related_id text not null,
  kind text not null,
  -- Its name on the chain: 32 bytes in hex.
  operation_id text not null unique check (operation_id ~ '^[0-9a-f]{64}$'),
  -- [{kind, fromWalletId, toWalletId, toAddress, amountWon, nonce}]; empty when the chain has it already.
  steps jsonb not null,
  from_wallets text[] not null,
  -- WAITING for its turn, PLANNED to go next, IN_FLIGHT in a transaction, PASSED without any step.
  state text not null check (state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'CONFIRMED', 'FAILED', 'PASSED')),
  -- On how many accounts something must go before it; null until the planner has looked.
  blocked integer check (blocked >= 0),
  -- The order in which planned operations go.
  turn bigint,
  retry_at timestamptz not null default now(),
  attempts integer not null default 0,
  wait_reason text,
  -- Of a hold that was refused for a cause of its own, once everything before it had settled: it is
  -- tried until then, and given up with proof.
  expires_at timestamptz,
  transaction_id bigint,
  tx_hash text,
  block_number bigint,
  block_hash text,
  gas_used bigint,
  failure_reason text,
  proof_block_number bigint,
  proof_block_hash text,
  proof_block_time bigint,
  request_id text not null,
  traceparent text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, ledger_ref),
  constraint operations_failed_needs_proof check (state <> 'FAILED' or (failure_reason is not null and proof_block_hash is not null)),
  constraint operations_confirmed_needs_block check (state <> 'CONFIRMED' or (tx_hash is not null and block_hash is not null))
) with (fillfactor = 80);

create index operations_fresh on operations (created_at) where state = 'WAITING' and blocked is null;
create index operations_ready on operations (org_id, created_at) where state = 'WAITING' and blocked = 0;
create index operations_planned on operations (turn) where state = 'PLANNED';
create index operations_in_flight on operations (transaction_id) where state = 'IN_FLIGHT';
create index operations_open on operations (created_at) where state in ('WAITING', 'PLANNED', 'IN_FLIGHT');

create sequence operation_turns;

-- How far each account's lines have been planned, in the ledger's numbering.
create table account_heads (
  org_id text not null,
  account_id text not null,
  next_sequence bigint not null default 1,
  primary key (org_id, account_id)
) with (fillfactor = 80);

-- An operation goes when the head of each of its accounts has come to its place. `moves_to` is where it leaves the head; null for a hold.
create table places (
  org_id text not null,
  account_id text not null,
  at_sequence bigint not null,
  ledger_ref text not null,
  moves_to bigint,
  primary key (org_id, account_id, at_sequence, ledger_ref)
);
create index places_of_operation on places (org_id, ledger_ref);

-- Which leg an authorization on the chain belongs to.
create table legs (
  from_wallet_id text not null,
  nonce text not null,
  org_id text not null,
  ledger_ref text not null,
  primary key (from_wallet_id, nonce)
);

create table lanes (
  org_id text primary key,
  paused_reason text,
  served_at timestamptz not null default now()
);

-- Addresses never change, so they are kept once they are known.
create table wallet_addresses (
  wallet_id text primary key,
  org_id text not null,
  address text not null
);
create unique index wallet_addresses_by_address on wallet_addresses (lower(address));
