-- The one request under which the ledger is asked to close a wallet's account, for as long as the wallet is DEACTIVATING: whoever asks, asks the same and
-- hears the same. Null until then, and of a wallet that an older release has left there.
alter table wallets add column closing_request_id text;
