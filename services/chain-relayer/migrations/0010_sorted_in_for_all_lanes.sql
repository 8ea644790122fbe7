-- no-transaction
-- What came in is sorted in for all lanes in one look again.
drop index concurrently if exists operations_fresh;
create index concurrently operations_fresh on operations (created_at) where state = 'WAITING' and blocked is null;
drop index concurrently if exists operations_fresh_by_lane;
