-- Up to which final block everything has been taken in. One row.
create table scan_cursor (
  one boolean primary key default true check (one),
  block_number bigint not null,
  block_hash text not null,
  block_time bigint not null,
  updated_at timestamptz not null default now()
);

-- Authorizations that somebody has used on the chain, in final blocks: whoever sent them, the money has moved.
create table used_authorizations (
  from_wallet_id text not null,
  nonce text not null,
  tx_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (from_wallet_id, nonce)
);
