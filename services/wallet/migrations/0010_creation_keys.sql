-- The Idempotency-Key of the wallet's creation, and the SHA-256 of that request's body. Null
-- without a key.
alter table wallets
  add column creation_key text check (char_length(creation_key) between 1 and 255),
  add column creation_hash bytea check (octet_length(creation_hash) = 32),
  add constraint wallets_creation_key_with_hash check ((creation_key is null) = (creation_hash is null));

create unique index wallets_by_creation_key on wallets (org_id, creation_key) where creation_key is not null;
