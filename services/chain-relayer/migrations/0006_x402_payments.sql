-- Payments by x402 that merchants had us settle. The token takes an authorization (ERC-3009) of one
-- payer and nonce at most once.
create table x402_payments (
  org_id text not null,
  payer text not null check (payer = lower(payer)),
  nonce text not null check (nonce ~ '^[0-9a-f]{64}$'),
  pay_to text not null check (pay_to = lower(pay_to)),
  units numeric(78, 0) not null check (units > 0),
  valid_after numeric(78, 0) not null,
  valid_before numeric(78, 0) not null,
  signature bytea not null,
  -- PLANNED: may be sent. IN_FLIGHT: in a stored, signed transaction. CONFIRMED: a final block has
  -- the movement. FAILED: was not sent, or was reverted in a final block; may be asked for again.
  state text not null check (state in ('PLANNED', 'IN_FLIGHT', 'CONFIRMED', 'FAILED')),
  -- Why it failed, or why it waits.
  reason text,
  -- In this block the nonce was unused.
  unused_block bigint not null,
  transaction_id bigint references transactions,
  -- The first version in flight. CONFIRMED: the transaction that moved the money.
  tx_hash text,
  -- The part of the day's gas that this payment takes: its limit, and after the end its use.
  gas bigint not null,
  gas_day date not null default (now() at time zone 'utc')::date,
  retry_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, payer, nonce),
  constraint x402_payments_in_flight_have_a_transaction check (state <> 'IN_FLIGHT' or transaction_id is not null),
  constraint x402_payments_confirmed_have_a_hash check (state <> 'CONFIRMED' or tx_hash is not null)
);
create index x402_payments_of_authorization on x402_payments (payer, nonce);
create index x402_payments_planned on x402_payments (retry_at) where state = 'PLANNED';
create index x402_payments_of_transaction on x402_payments (transaction_id) where transaction_id is not null;

-- Gas for payments by x402, by organisation and day in UTC.
create table x402_gas (
  org_id text not null,
  day date not null,
  gas bigint not null check (gas >= 0),
  primary key (org_id, day)
);
-- The metrics read the gas of this day.
create index x402_gas_of_day on x402_gas (day);
