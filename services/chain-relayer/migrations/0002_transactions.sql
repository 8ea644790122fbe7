-- One active writer per signer: the holder of the lease. Every write of a writer checks its epoch.
create table signers (
  address text primary key,
  next_nonce bigint not null default 0,
  holder text,
  epoch bigint not null default 0,
  lease_ends_at timestamptz not null default now()
);

create table transactions (
  transaction_id bigint generated always as identity primary key,
  signer text not null,
  nonce bigint not null,
  epoch bigint not null,
  recipient text not null,
  -- Empty for a no-op that fills a nonce gap.
  call_data bytea not null,
  gas_limit bigint not null,
  -- SIGNED: stored, and possibly sent. SENT: a node has it. MINED: in a block that a reorganisation
  -- may still drop. FINAL: in a final block. LOST: another transaction used its nonce.
  state text not null check (state in ('SIGNED', 'SENT', 'MINED', 'FINAL', 'LOST')),
  sends integer not null default 0,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  unique (signer, nonce)
);
create index transactions_open on transactions (signer, nonce) where state in ('SIGNED', 'SENT', 'MINED');

-- Every signed version of a transaction: the first one and its replacements.
create table transaction_versions (
  tx_hash text primary key,
  transaction_id bigint not null references transactions,
  raw bytea not null,
  max_fee_wei numeric(78, 0) not null,
  priority_fee_wei numeric(78, 0) not null,
  created_at timestamptz not null default now()
);
create index transaction_versions_of on transaction_versions (transaction_id, created_at);
-- Unpruned versions are mostly those of the last month. Pruning finds them here.
create index transaction_versions_kept on transaction_versions (transaction_id) where raw <> ''::bytea;

-- The signer's money for gas at the end of each hour, and the sum of the decreases within it.
create table signer_balances (
  address text not null,
  hour timestamptz not null,
  -- The first and the last measurement of the hour.
  began_at timestamptz not null,
  measured_at timestamptz not null,
  balance_wei numeric(78, 0) not null,
  spent_wei numeric(78, 0) not null check (spent_wei >= 0),
  primary key (address, hour)
);

-- All payment managers of this database's operations, in the order of their adoption. The last one
-- is called. Events of all of them are ours.
create table payment_managers (
  address text primary key check (address = lower(address)),
  turn bigint not null generated always as identity,
  adopted_at timestamptz not null default now()
);
