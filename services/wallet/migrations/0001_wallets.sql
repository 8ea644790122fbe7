-- Each organisation has a sealed seed. Every wallet's key is derived from it by a hardened path, so
-- wallets have no key rows.
create table seeds (
  org_id text primary key,
  version integer not null check (version > 0),
  kek_id text not null,
  sealed bytea not null,
  next_index integer not null default 0 check (next_index >= 0),
  created_at timestamptz not null default now(),
  resealed_at timestamptz not null default now()
);

-- For the rotation of the key-encryption key: finds the seeds that the new key does not seal yet.
create index seeds_by_kek on seeds (kek_id, org_id);

create table wallets (
  org_id text not null,
  wallet_id text not null,
  user_id text not null check (char_length(user_id) between 1 and 255),
  wallet_type text not null check (wallet_type in ('NORMAL', 'INCENTIVE', 'GOVERNMENT')),
  address text not null check (address ~ '^0x[0-9a-fA-F]{40}$'),
  key_index integer not null check (key_index >= 0),
  -- OPENING until the ledger has its account, DEACTIVATING until the ledger has closed the account.
  -- A job finishes wallets that a crash left in these states.
  status text not null check (status in ('OPENING', 'ACTIVE', 'DEACTIVATING', 'DEACTIVATED')),
  metadata jsonb not null default '{}',
  version bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, wallet_id),
  -- Begins with the user: operators search for users of any organisation.
  unique (user_id, org_id, wallet_type),
  unique (org_id, key_index)
);

create unique index wallets_by_address on wallets (lower(address));
create unique index wallets_by_id on wallets (wallet_id);
create index wallets_unfinished on wallets (updated_at) where status in ('OPENING', 'DEACTIVATING');
create index wallets_by_type on wallets (org_id, wallet_type, wallet_id);
create index wallets_deactivated on wallets (org_id, wallet_id) where status = 'DEACTIVATED';
