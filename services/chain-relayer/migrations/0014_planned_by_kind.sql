-- no-transaction
-- What goes next is walked in the order of the turns; what custody refuses, and what was sent before and came back, however much it is, is not walked over.
drop index concurrently if exists operations_planned_first;
create index concurrently operations_planned_first on operations (turn)
  where state = 'PLANNED' and attempts = 0 and not coalesce(starts_with(wait_reason, 'custody_'), false);
drop index concurrently if exists operations_planned_again;
create index concurrently operations_planned_again on operations (retry_at, turn)
  where state = 'PLANNED' and attempts > 0 and not coalesce(starts_with(wait_reason, 'custody_'), false);
drop index concurrently if exists operations_refused;
create index concurrently operations_refused on operations (retry_at)
  where state = 'PLANNED' and coalesce(starts_with(wait_reason, 'custody_'), false);
drop index concurrently if exists operations_refused_by_payer;
create index concurrently operations_refused_by_payer on operations (wait_reason, org_id, from_wallets)
  where state = 'PLANNED' and coalesce(starts_with(wait_reason, 'custody_'), false);
-- The release before finds what is planned by operations_open_by_state.
drop index concurrently if exists operations_planned;
