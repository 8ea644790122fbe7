-- no-transaction
-- Finds the few deactivated wallets of one type without reading the many of another type.
drop index concurrently if exists wallets_deactivated_by_type;
create index concurrently wallets_deactivated_by_type on wallets (org_id, wallet_type, wallet_id) where status = 'DEACTIVATED';
drop index concurrently if exists wallets_deactivated;
