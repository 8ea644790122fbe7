-- A deactivated wallet that an operator wants reopened. The ledger is asked under this one request
-- id until the wallet is open.
create table reopenings (
  org_id text not null,
  wallet_id text not null,
  request_id text not null,
  operator text not null,
  asked_at timestamptz not null default now(),
  primary key (org_id, wallet_id),
  foreign key (org_id, wallet_id) references wallets
);

-- The number of reopenings. A deactivation that began before a reopening sees by it that its late
-- answer is out of date.
alter table wallets add column times_reopened integer not null default 0;
