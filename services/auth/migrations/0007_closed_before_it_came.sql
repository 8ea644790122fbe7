-- no-transaction
-- An account may come before the call that asks for its lease, when a gateway has given up on that call and it is still under way. It closes the lease
-- before it is lent, with no units in it.
alter table quota_leases drop constraint if exists quota_leases_granted_positive;
alter table quota_leases drop constraint if exists quota_leases_granted_unless_closed;
alter table quota_leases add constraint quota_leases_granted_unless_closed
  check (granted_units > 0 or state = 'ACCOUNTED' and granted_units = 0) not valid;
alter table quota_leases validate constraint quota_leases_granted_unless_closed;
