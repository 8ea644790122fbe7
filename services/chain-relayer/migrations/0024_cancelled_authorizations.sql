-- Authorizations of our wallets that were cancelled on the chain, in final blocks: nothing has moved by them, and nothing ever will. By themselves, as the
-- release before takes whatever is among the used ones for money that has moved.
create table cancelled_authorizations (
  from_wallet_id text not null,
  nonce text not null,
  tx_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (from_wallet_id, nonce)
);
