-- The request id under which the ledger is asked to close a wallet's account while the wallet is
-- DEACTIVATING. All callers use it, so all get the same answer. Null in every other state.
alter table wallets add column closing_request_id text;
