-- The last ingested final block. One row.
create table scan_cursor (
  one boolean primary key default true check (one),
  block_number bigint not null,
  block_hash text not null,
  block_time bigint not null,
  updated_at timestamptz not null default now(),
  -- The furthest block before an operator set the cursor back. Until the cursor reaches it again,
  -- the sums of movements are ahead of the cursor.
  rewound_from_number bigint,
  rewound_from_hash text,
  constraint scan_cursor_rewound_from_has_hash check ((rewound_from_number is null) = (rewound_from_hash is null))
);

-- Addresses never change, so they are cached without expiry.
create table wallet_addresses (
  wallet_id text primary key,
  org_id text not null,
  address text not null
);
create unique index wallet_addresses_by_address on wallet_addresses (lower(address));

-- Authorizations that were used on the chain, in final blocks: the money has moved.
create table used_authorizations (
  from_wallet_id text not null,
  nonce text not null,
  tx_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  -- The movement of the authorization. After a restore the ledger may give an entry the number of a
  -- forgotten one, and thereby the names of that one's legs.
  to_address text,
  units numeric(78, 0),
  primary key (from_wallet_id, nonce),
  constraint used_authorizations_moved_something check ((to_address is null) = (units is null))
);

-- Authorizations of our wallets that were cancelled in final blocks: they will never move anything.
create table cancelled_authorizations (
  from_wallet_id text not null,
  nonce text not null,
  tx_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (from_wallet_id, nonce)
);
