-- Wallets that the token's blocklist has or had, as of the newest final change.
create table wallet_blocks (
  wallet_id text primary key,
  org_id text not null,
  wallet_address text not null,
  blocked boolean not null,
  block_number bigint not null,
  log_index integer not null
);
