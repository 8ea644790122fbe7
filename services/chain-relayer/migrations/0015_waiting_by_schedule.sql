-- no-transaction
-- How long one waits whose time has come is read every ten seconds, however many wait for theirs; each try moves run_at, but not this.
drop index concurrently if exists records_waiting;
create index concurrently records_waiting on records (scheduled_at) where run in ('WAITING', 'STARTED');
