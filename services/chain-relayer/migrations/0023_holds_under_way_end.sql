-- no-transaction
-- Who looks for holds whose time is over finds those that are in a transaction as well, page by page.
drop index concurrently if exists operations_ending;
create index concurrently operations_ending on operations (expires_at, ledger_ref)
  where state in ('WAITING', 'PLANNED', 'IN_FLIGHT') and expires_at is not null;
drop index concurrently if exists operations_expiring;
