-- no-transaction
-- Whose signed bytes are still there: mostly those of the last month. The others, all there ever were, are not looked at to forget them.
drop index concurrently if exists transaction_versions_kept;
create index concurrently transaction_versions_kept on transaction_versions (transaction_id) where raw <> ''::bytea;
