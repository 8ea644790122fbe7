-- Tokens that came from outside to one of our wallets, in a final block. Once for each log.
create table deposits (
  tx_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  block_hash text not null,
  org_id text not null,
  wallet_id text not null,
  from_address text not null,
  units numeric(78, 0) not null check (units >= 0),
  -- Whole KRW go to the ledger; what is less than one stays on the chain and is counted here.
  amount_won bigint not null check (amount_won >= 0),
  -- The ledger's request id, made with the row, so that every try credits the same.
  ledger_ref text not null unique,
  state text not null check (state in ('SEEN', 'CREDITED', 'DUST')),
  created_at timestamptz not null default now(),
  primary key (tx_hash, log_index)
);
create index deposits_seen on deposits (created_at) where state = 'SEEN';

-- What each wallet should hold on the chain at the cursor's block, from what was taken in.
create table settled_balances (
  wallet_id text primary key,
  org_id text not null,
  units numeric(78, 0) not null default 0
) with (fillfactor = 80);

-- Minted less burned by our operations, and what came in or went out by others.
create table settled_supply (
  one boolean primary key default true check (one),
  units numeric(78, 0) not null default 0
);
insert into settled_supply default values;

-- A wallet whose chain balance is not what it should be. Its outflow stops until somebody has looked.
create table drifts (
  drift_id bigint generated always as identity primary key,
  org_id text not null,
  wallet_id text not null,
  kind text not null,
  expected numeric(78, 0) not null,
  actual numeric(78, 0) not null,
  block_number bigint not null,
  found_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text
);
create unique index drifts_open on drifts (wallet_id, kind) where acknowledged_at is null;
