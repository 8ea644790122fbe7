-- Metadata of transfers, charges, refunds, payments and cancellations that partners changed after the command. No
-- other place has it: a rebuild of the records keeps these rows. An object without a row has the metadata of its
-- ledger entry.
create table changed_metadata (
  org_id text not null,
  object_id text not null,
  metadata jsonb not null,
  -- Counts the changes.
  version bigint not null,
  changed_at timestamptz not null default now(),
  primary key (org_id, object_id)
);
-- PATCH of a payment's cancellation looks up the payment whose month left the ledger.
create index payments_by_cancel on payments (org_id, cancel_id) where cancel_id is not null;
