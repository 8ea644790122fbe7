-- API keys. A row recognises a key and does not hold it. A refreshed key is superseded by another
-- key of the same lineage.
create table api_keys (
  org_id uuid not null references organisations,
  key_id uuid not null,
  -- The first key of the lineage, which an operator issued. The first key holds its own id here.
  lineage_id uuid not null,
  predecessor_id uuid,
  prefix text not null,
  key_hash bytea not null,
  -- Derives the same API key again together with the secret key. Null for a random key.
  salt bytea,
  version bigint not null,
  name text not null,
  scopes text[] not null,
  -- Addresses and CIDR ranges from which the key works. Empty: any address.
  allowed_addresses text[] not null,
  -- The version of the public API that requests without a version get.
  api_version text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  superseded_at timestamptz,
  overlap_ends_at timestamptz,
  revoked_at timestamptz,
  -- Written in batches, so it is a few seconds old.
  last_used_at timestamptz,
  primary key (org_id, key_id),
  constraint api_keys_prefix_key unique (prefix),
  constraint api_keys_hash_is_sha256 check (octet_length(key_hash) = 32),
  constraint api_keys_salt_size check (octet_length(salt) = 16),
  constraint api_keys_version_positive check (version > 0),
  constraint api_keys_name_length check (char_length(name) between 1 and 100),
  constraint api_keys_has_scopes check (cardinality(scopes) between 1 and 100),
  constraint api_keys_few_addresses check (cardinality(allowed_addresses) <= 50),
  constraint api_keys_life_ordered check (issued_at < expires_at),
  constraint api_keys_superseded_has_overlap check ((superseded_at is null) = (overlap_ends_at is null)),
  constraint api_keys_overlap_within_life check (overlap_ends_at <= expires_at)
);

-- Operators search for a key by its id.
create unique index api_keys_by_id on api_keys (key_id);

-- Two refreshes at once cannot both become the lineage's current key.
create unique index api_keys_one_current on api_keys (org_id, lineage_id)
  where superseded_at is null and revoked_at is null;
