-- no-transaction
-- What is refused is asked for again every few seconds, until it is signed or given up. Whether it has been written down lately is looked up by its operation.
drop index concurrently if exists signing_refusals_of;
create index concurrently signing_refusals_of on signing_refusals (ledger_ref, refused_at);
