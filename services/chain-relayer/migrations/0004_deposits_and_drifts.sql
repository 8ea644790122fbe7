-- Tokens that came from outside to one of our wallets, in a final block. Each log is one row.
create table deposits (
  tx_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  org_id text not null,
  wallet_id text not null,
  from_address text not null,
  units numeric(78, 0) not null check (units > 0),
  -- Whole KRW go to the ledger; the rest stays on the chain and is counted here.
  amount_won bigint not null check (amount_won >= 0),
  remainder_units numeric(78, 0) generated always as (units % 1000000) stored,
  -- The ledger's request id, created with the row, so that every attempt credits the same. After
  -- the credit: the id under which the ledger has it.
  ledger_ref text not null unique,
  -- SEEN: to be credited. DUST: less than one KRW. TOO_LARGE: more than the ledger can hold.
  state text not null check (state in ('SEEN', 'CREDITED', 'DUST', 'TOO_LARGE')),
  attempts integer not null default 0,
  retry_at timestamptz not null default now(),
  refusal text,
  credited_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (tx_hash, log_index),
  constraint deposits_credited_have_a_time check ((state = 'CREDITED') = (credited_at is not null))
);
create index deposits_seen on deposits (retry_at) where state = 'SEEN';
create index deposits_credited on deposits (org_id, ledger_ref) where state = 'CREDITED';
create index deposits_left_over on deposits (state) where state in ('DUST', 'TOO_LARGE') or remainder_units > 0;

-- Effect of each final token transfer on a wallet's balance, or on the supply ('supply'; without
-- organisation unless our operation caused it). Each log is one row, so that blocks may be scanned
-- again.
create table movements (
  tx_hash text not null,
  log_index integer not null,
  account_id text not null,
  org_id text not null,
  units numeric(78, 0) not null,
  primary key (tx_hash, log_index, account_id)
);

-- The sums of the movements: the expected balances at the cursor's block.
create table settled_balances (
  org_id text not null,
  account_id text not null,
  units numeric(78, 0) not null default 0,
  -- The part that the ledger does not know yet, or never will: uncredited deposits and their
  -- remainders.
  unbooked_units numeric(78, 0) not null default 0,
  primary key (org_id, account_id)
) with (fillfactor = 80);

-- A difference between books. If it concerns a wallet, the wallet's outflow stops until an operator
-- acknowledges it.
create table drifts (
  drift_id bigint generated always as identity primary key,
  org_id text not null,
  -- Empty when no wallet is concerned.
  wallet_id text not null,
  kind text not null check (kind in ('CHAIN', 'LEDGER', 'SUPPLY', 'ORGANISATION', 'UNKNOWN_OPERATION', 'UNEXPLAINED_MINT')),
  -- The operation's id, for UNKNOWN_OPERATION and UNEXPLAINED_MINT.
  subject text not null default '',
  expected numeric(78, 0) not null,
  actual numeric(78, 0) not null,
  block_number bigint not null,
  found_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  -- Time at which the books agreed again. A later difference is a new row.
  resolved_at timestamptz
);
create unique index drifts_open on drifts (org_id, wallet_id, kind, subject) where acknowledged_at is null;
create index drifts_open_of_wallet on drifts (wallet_id) where acknowledged_at is null;
create index drifts_latest on drifts (org_id, wallet_id, kind, subject, drift_id);

-- The supply at the last complete comparison of each hour, in token units.
create table supply_points (
  hour timestamptz primary key,
  compared_at timestamptz not null,
  block_number bigint not null,
  supply_units numeric(78, 0) not null,
  -- The part of it on our wallets.
  wallet_units numeric(78, 0) not null
);

-- Time of the last reconciliation. One row.
create table reconciliation (
  one boolean primary key default true check (one),
  started_at timestamptz not null default '-infinity',
  finished_at timestamptz,
  block_number bigint
);
insert into reconciliation default values;
