-- Since when a wallet is being deactivated, for the job that finishes what a crash left: that is no change of the wallet, which the ledger may yet refuse.
-- Null of one that an older release has begun to close, and told by updated_at then.
alter table wallets add column closing_since timestamptz;
