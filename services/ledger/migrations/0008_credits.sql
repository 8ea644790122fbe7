-- Deposits: one credit for each log of the chain, under whatever request id it comes.
create table credits (
  org_id uuid not null,
  chain_log_id text not null,
  entry_id uuid not null,
  constraint credits_key primary key (org_id, chain_log_id)
);
