-- no-transaction
-- The relayer asks again every few seconds for a refused leg. This index finds the last refusal of
-- its operation.
drop index concurrently if exists signing_refusals_of;
create index concurrently signing_refusals_of on signing_refusals (ledger_ref, refused_at);
