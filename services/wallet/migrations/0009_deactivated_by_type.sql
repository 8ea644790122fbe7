-- no-transaction
-- Of the wallets that are deactivated a few of one type are not looked for among many of another. The release before finds those of all types by the primary key.
drop index concurrently if exists wallets_deactivated_by_type;
create index concurrently wallets_deactivated_by_type on wallets (org_id, wallet_type, wallet_id) where status = 'DEACTIVATED';
drop index concurrently if exists wallets_deactivated;
