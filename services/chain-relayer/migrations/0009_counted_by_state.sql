-- no-transaction
-- What is open is counted from the index alone; and who looks for holds whose time is over does not walk over everything that waits.
drop index concurrently if exists operations_open_by_state;
create index concurrently operations_open_by_state on operations (state, wait_reason, created_at)
  where state in ('WAITING', 'PLANNED', 'IN_FLIGHT');
drop index concurrently if exists operations_expiring;
create index concurrently operations_expiring on operations (expires_at)
  where state in ('WAITING', 'PLANNED') and expires_at is not null;
drop index concurrently if exists operations_open;
-- What came in is sorted in lane by lane, since a paused one has time.
drop index concurrently if exists operations_fresh_by_lane;
create index concurrently operations_fresh_by_lane on operations (org_id, created_at) where state = 'WAITING' and blocked is null;
drop index concurrently if exists operations_fresh;
