-- no-transaction
-- An operation has three places, and each was in two indexes of all its columns. An account and an operation are one organisation's anyway, and a place is
-- written with its operation, which is there once.
drop index concurrently if exists places_in_order;
create index concurrently places_in_order on places (account_id, at_sequence);
drop index concurrently if exists places_of;
create index concurrently places_of on places (ledger_ref);
drop index concurrently if exists places_of_operation;
alter table places drop constraint if exists places_pkey;
