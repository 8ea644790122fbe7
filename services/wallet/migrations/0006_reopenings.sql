-- A deactivated wallet that an operator wants reopened, until it is: with the one request id under which the ledger is asked to open its account again.
create table reopenings (
  org_id text not null,
  wallet_id text not null,
  request_id text not null,
  operator text not null,
  asked_at timestamptz not null default now(),
  primary key (org_id, wallet_id),
  foreign key (org_id, wallet_id) references wallets
);

-- Who began to deactivate a wallet before it was reopened, and hears late that it was closed then, knows by this that it is open again.
alter table wallets add column times_reopened integer not null default 0;
