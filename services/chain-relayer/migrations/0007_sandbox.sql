-- The sandbox of a test network. Empty on a main network.
alter table operations
  -- HOLD: the operation waits until it is released. FAIL: the hold fails as soon as that is proven.
  add column sandbox_order text check (sandbox_order in ('HOLD', 'FAIL'));
create index operations_to_fail on operations (org_id) where sandbox_order = 'FAIL' and state in ('WAITING', 'PLANNED');

alter table records
  -- The real time at which the organisation's test clock shows scheduled_at. Null: they are equal.
  add column due_at timestamptz;
