-- no-transaction
-- A gateway that gives up on a call accounts for its lease, and the account can arrive first. It
-- then closes the lease before it is lent, with no units in it.
alter table quota_leases drop constraint if exists quota_leases_granted_positive;
alter table quota_leases drop constraint if exists quota_leases_granted_unless_closed;
alter table quota_leases add constraint quota_leases_granted_unless_closed
  check (granted_units > 0 or state = 'ACCOUNTED' and granted_units = 0) not valid;
alter table quota_leases validate constraint quota_leases_granted_unless_closed;
