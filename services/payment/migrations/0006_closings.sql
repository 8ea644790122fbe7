-- Operations that an operator has asked to close, and what came of it. Written by people, so they are few, and kept.
create table closings (
  org_id text not null,
  operation_id text not null,
  operator text not null,
  reason text not null check (char_length(reason) between 1 and 500),
  asked_at timestamptz not null default now(),
  -- Null until the job has asked the ledger. CLOSED: it was never decided and never will be, so the operation is gone. Anything else is why it is not closed.
  outcome text check (outcome in ('CLOSED', 'NOT_OPEN', 'JOURNAL', 'OPEN', 'ARCHIVE', 'UNKNOWN')),
  primary key (org_id, operation_id)
);
