-- Every request that was decided, refused ones too, so that a replay gets the first answer. The id is the UUID of the request's own id, a
-- UUIDv7: it names the partition, and one unique key over all partitions makes a request happen once.
create table entries (
  org_id uuid not null,
  id uuid not null,
  -- The three letters before the request's id.
  request_prefix text not null,
  -- The IntentKind of the contract.
  kind smallint not null,
  -- 128 bits of the content's SHA-256; uuid is the type that stores them without a length.
  content_hash uuid not null,
  posted_at timestamptz not null,
  related_id text,
  memo text,
  -- Where its postings are, in their order. Cheaper than an index from postings to entries, and not less exact: neither table is ever updated.
  account_numbers bigint[],
  sequences bigint[],
  -- Of a refusal.
  code text,
  -- What of the answer cannot be read off the postings.
  detail jsonb,
  constraint entries_key primary key (org_id, id),
  constraint entries_refused_or_posted check (code is null or account_numbers is null),
  constraint entries_postings_named check (cardinality(account_numbers) = cardinality(sequences))
) partition by range (id);
