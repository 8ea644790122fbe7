-- no-transaction
-- Recorded hashes are looked up in turns of organisations.
drop index concurrently if exists records_watched;
create index concurrently records_watched on records (org_id, run_at) where run = 'WATCHED';
