-- The start of a deactivation, for the job that finishes interrupted ones. The start itself does
-- not change the wallet: the ledger may still refuse.
alter table wallets add column closing_since timestamptz;
