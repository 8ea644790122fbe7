-- Up to where another service's outbox was looked through for events that the bus has not brought. One row for each service.
create table outbox_readings (
  service text primary key,
  position bigint not null
) with (fillfactor = 50);
