-- The part of the service's charge limit that replicas took, for each day of Asia/Seoul. Days count
-- from 1970.
create table charge_days (
  day integer primary key,
  granted_won bigint not null,
  constraint charge_days_not_negative check (granted_won >= 0)
);
revoke delete, truncate on charge_days from wonrail_ledger;
