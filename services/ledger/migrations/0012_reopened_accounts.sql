-- Each time that a closed account was opened again, under the account's lock: an account's events are numbered by it. Append-only, and empty of nearly
-- all accounts, so that none of it is on the way of a posting.
create table reopened_accounts (
  org_id uuid not null,
  account_id uuid not null,
  times integer not null,
  entry_id uuid not null,
  constraint reopened_accounts_key primary key (org_id, account_id, times),
  constraint reopened_accounts_counted check (times > 0)
);
revoke update, delete, truncate on reopened_accounts from wonrail_ledger;
