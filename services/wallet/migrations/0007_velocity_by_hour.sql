-- no-transaction
-- Hours that no limit looks at any more are deleted some at a time, oldest first, whatever the table holds.
drop index concurrently if exists velocity_by_hour;
create index concurrently velocity_by_hour on velocity (hour);
