-- no-transaction
-- For the job that deletes old hours in batches, oldest first.
drop index concurrently if exists velocity_by_hour;
create index concurrently velocity_by_hour on velocity (hour);
