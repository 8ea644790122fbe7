-- The sequence of each organisation's newest entry. A batch locks the row until its commit, after its
-- account locks, so the sequences have no gaps and respect the order of every account.
create table journal_heads (
  org_id uuid primary key,
  last_sequence bigint not null default 0,
  constraint journal_heads_not_negative check (last_sequence >= 0)
) with (fillfactor = 50);

-- Every decided request, also a refused one. A replay gets the stored outcome. The id is the
-- request id's UUID, a UUIDv7, and its time names the partition. The primary key makes a request id
-- unique.
create table entries (
  org_id uuid not null,
  id uuid not null,
  -- The three letters before the request's id.
  request_prefix text not null,
  -- The IntentKind of the contract.
  kind smallint not null,
  -- The first 128 bits of the content's SHA-256. The type uuid stores them without a length.
  content_hash uuid not null,
  posted_at timestamptz not null,
  -- The service that posted it, by its certificate. Null where callers have no certificates.
  posted_by text,
  -- Numbers the organisation's posted entries in commit order. Null for a refusal.
  org_sequence bigint,
  related_id text,
  memo text,
  reference text,
  metadata jsonb,
  -- The request that this entry cancels, or whose hold it posts or voids.
  original_id uuid,
  -- The entry's postings in order. These arrays cost less than an index from postings to entries.
  account_numbers bigint[],
  sequences bigint[],
  -- The error code of a refusal.
  code text,
  -- The parts of the answer that the postings do not show.
  detail jsonb,
  -- The call that asked for it: X-Request-Id, a space, the trace id. Null without such a call.
  origin text,
  constraint entries_key primary key (org_id, id),
  constraint entries_refused_or_posted check ((code is null) = (org_sequence is not null)),
  constraint entries_refused_without_postings check (code is null or account_numbers is null),
  constraint entries_postings_named check (cardinality(account_numbers) = cardinality(sequences))
) partition by range (id);

-- A line of an entry and of one account's statement. Each partition has a unique index on
-- (account_number, sequence): the order of the statement.
create table postings (
  account_number bigint not null,
  sequence bigint not null,
  amount_won bigint not null,
  balance_after_won bigint not null,
  entry_id uuid not null,
  org_id uuid not null,
  -- The TransactionType of the contract.
  type smallint not null,
  constraint postings_move_something check (amount_won <> 0),
  constraint postings_sequence_positive check (sequence > 0),
  constraint postings_type_known check (type between 1 and 10)
) partition by range (entry_id);

-- For each full block of 128 postings of an account: the types in it. The account row has the types of
-- the last, partial block. A statement by type reads only the blocks that contain the type.
create table type_blocks (
  account_number bigint not null,
  type smallint not null,
  -- Sequence of the block's last posting: a multiple of 128.
  sequence bigint not null,
  constraint type_blocks_key primary key (account_number, type, sequence)
);

-- Idempotency keys, written in the transaction that decides their request. The table is not partitioned,
-- because a key must be unique across months. The job prune_keys deletes rows older than 32 days.
create table request_keys (
  org_id uuid not null,
  scope text not null,
  key text not null,
  request_id uuid not null,
  -- SHA-256 of the caller's body. Another hash under the same key is refused.
  body_hash bytea not null,
  created_at timestamptz not null,
  constraint request_keys_key primary key (org_id, scope, key)
);
create index request_keys_by_age on request_keys (created_at);
