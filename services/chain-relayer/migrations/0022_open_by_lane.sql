-- no-transaction
-- The oldest of what is open is looked for lane by lane, since what waits behind a paused one is told of apart: however much that is, one of it is read.
drop index concurrently if exists operations_open_by_lane;
create index concurrently operations_open_by_lane on operations (state, wait_reason, org_id, created_at)
  where state in ('WAITING', 'PLANNED', 'IN_FLIGHT');
-- The release before counts by the new one as well.
drop index concurrently if exists operations_open_by_state;
