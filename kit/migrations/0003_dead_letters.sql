-- Messages that a consumer group could not work on, whole, with the reason. Headers are json and not jsonb: it takes any text.
create table dead_letters (
  id bigint generated always as identity primary key,
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  message_offset text not null,
  message_key text not null,
  headers json not null,
  payload bytea not null,
  error text not null,
  failures integer not null default 1,
  failed_at timestamptz not null default now(),
  replay_requested_at timestamptz,
  replayed_at timestamptz,
  -- The same message may be delivered again before its offset is committed.
  unique (consumer_group, topic, partition, message_offset)
);

create index dead_letters_to_replay on dead_letters (consumer_group, id) where replay_requested_at is not null;
