-- How much of the service's limit of a day of Asia/Seoul was handed out to replicas, which charge from it.
-- The day counts from 1970.
create table charge_days (
  day integer primary key,
  granted_won bigint not null,
  constraint charge_days_not_negative check (granted_won >= 0)
);
revoke delete, truncate on charge_days from wonrail_ledger;
