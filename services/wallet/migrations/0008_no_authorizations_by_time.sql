-- no-transaction
-- No statement looks for authorizations by time. Without an index on the time PostgreSQL updates a
-- row in place when its leg is signed again.
drop index concurrently if exists authorizations_by_time;
