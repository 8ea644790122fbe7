-- The place of each organisation in the ledger's journal. Entries behind the cursor are pulled.
create table settlement_queues (
  org_id text primary key,
  -- The newest entry of the organisation in the ledger, as far as this service knows.
  head_sequence bigint not null default 0,
  -- The last entry that was pulled, and its request id: another id there means another journal.
  cursor_sequence bigint not null default 0,
  cursor_ref text not null default '',
  -- Since when the oldest entry behind the cursor waits; null if there is none.
  behind_since timestamptz,
  paused_reason text,
  -- Time of the queue's last turn. The queue that waits longest is next.
  served_at timestamptz not null default now()
) with (fillfactor = 80);

create index settlement_queues_paused on settlement_queues (org_id) where paused_reason is not null;

-- One row per ledger entry or hold that the chain must execute. Its steps and names follow from the
-- ledger, so the same entry always gives the same row.
create table operations (
  org_id text not null,
  ledger_ref text not null,
  -- The entry's place in the organisation's journal.
  org_sequence bigint not null,
  related_id text not null,
  kind text not null,
  -- The operation's name on the chain: 32 bytes in hex. Null of an entry that could not be read.
  -- A length and a pattern cost a thirtieth of a pattern that counts to 64.
  operation_id text unique check (length(operation_id) = 64 and operation_id !~ '[^0-9a-f]'),
  -- [{kind, fromWalletId, toWalletId, toAddress, amountWon, nonce}]; empty without work on the
  -- chain.
  steps jsonb not null,
  from_wallets text[] not null,
  -- All wallets of the entry: the operations of a wallet are planned in the order of its entries.
  wallets text[] not null,
  -- WAITING for a plan, PLANNED to go next, IN_FLIGHT in a transaction. PASSED has no steps.
  -- BLOCKED is unreadable: an operator ends it.
  state text not null
    check (state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'CONFIRMED', 'FAILED', 'PASSED', 'BLOCKED')),
  -- The order in which planned operations go.
  turn bigint,
  retry_at timestamptz not null default now(),
  attempts integer not null default 0,
  wait_reason text,
  -- For a hold that was refused for its own cause, set once everything before it has settled: the
  -- hold is retried until then, and given up with proof.
  expires_at timestamptz,
  transaction_id bigint,
  tx_hash text,
  block_number bigint,
  block_hash text,
  gas_used bigint,
  failure_reason text,
  proof_block_number bigint,
  proof_block_hash text,
  proof_block_time bigint,
  -- The time of the newest event about the operation; null before the first.
  changed_at timestamptz,
  -- When the ledger posted the entry.
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Ids ascend with time, and operators search for them in all organisations.
  primary key (ledger_ref, org_id),
  constraint operations_failed_needs_proof check (state <> 'FAILED' or (failure_reason is not null and proof_block_hash is not null)),
  constraint operations_confirmed_needs_block check (state <> 'CONFIRMED' or (tx_hash is not null and block_hash is not null)),
  constraint operations_blocked_needs_reason check (state <> 'BLOCKED' or wait_reason is not null),
  constraint operations_named check (operation_id is not null or state in ('BLOCKED', 'PASSED'))
) with (fillfactor = 80);

-- The planner walks the queue of an organisation.
create index operations_queued on operations (org_id, org_sequence) where state in ('WAITING', 'BLOCKED');
-- Planned operations are read in the order of their turns, apart from sent and refused ones.
create index operations_planned_first on operations (turn)
  where state = 'PLANNED' and attempts = 0 and not coalesce(starts_with(wait_reason, 'custody_'), false);
create index operations_planned_again on operations (retry_at, turn)
  where state = 'PLANNED' and attempts > 0 and not coalesce(starts_with(wait_reason, 'custody_'), false);
create index operations_refused on operations (retry_at)
  where state = 'PLANNED' and coalesce(starts_with(wait_reason, 'custody_'), false);
create index operations_refused_by_payer on operations (wait_reason, org_id, from_wallets)
  where state = 'PLANNED' and coalesce(starts_with(wait_reason, 'custody_'), false);
create index operations_in_flight on operations (transaction_id) where state = 'IN_FLIGHT';
-- Operators search for the operations of a transaction.
create index operations_of_transaction on operations (transaction_id) where state in ('CONFIRMED', 'FAILED') and transaction_id is not null;
-- Operators look at the oldest open operations of all organisations.
create index operations_open_oldest on operations (created_at) where state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED');
-- Open operations are counted by state and reason; the oldest is found for each organisation.
create index operations_open_by_queue on operations (state, wait_reason, org_id, created_at)
  where state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED');
create index operations_ending on operations (expires_at, ledger_ref)
  where state in ('WAITING', 'PLANNED', 'IN_FLIGHT') and expires_at is not null;
-- For reconciliation: payouts that have left the chain before the ledger captures them.
create index operations_final_holds on operations (updated_at) where kind = 'INTENT_KIND_PLACE_HOLD' and state = 'CONFIRMED';
create index operations_posted_holds on operations (org_id, related_id) where kind = 'INTENT_KIND_POST_HOLD';

create sequence operation_turns;

-- The newest pulled line of each wallet, in the ledger's numbering. Reconciliation judges a wallet
-- once the ledger has no newer line.
create table wallet_sequences (
  org_id text not null,
  wallet_id text not null,
  last_sequence bigint not null,
  primary key (org_id, wallet_id)
) with (fillfactor = 80);

-- Which leg an authorization on the chain belongs to.
create table legs (
  from_wallet_id text not null,
  nonce text not null,
  org_id text not null,
  ledger_ref text not null,
  primary key (from_wallet_id, nonce)
);

-- Wallets that the token's blocklist has or had, as of the newest final change.
create table wallet_blocks (
  wallet_id text primary key,
  org_id text not null,
  wallet_address text not null,
  blocked boolean not null,
  block_number bigint not null,
  block_hash text not null,
  log_index integer not null,
  -- When the ledger took the newest change. Null until then.
  posted_at timestamptz,
  -- When the freeze is posted next: again each hour, because a restored ledger forgets it.
  post_at timestamptz not null default now(),
  claimed_until timestamptz not null default '-infinity',
  refusal text
);
create index wallet_blocks_to_post on wallet_blocks (post_at);
