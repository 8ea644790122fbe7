-- Messages that a consumer group could not work on, whole, with the reason. Headers are json and not jsonb, which
-- would refuse some text; for the same reason nothing is ever read out of them here.
create table dead_letters (
  id bigint generated always as identity primary key,
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  message_offset text not null,
  message_key text not null,
  event_type text not null,
  headers json not null,
  payload bytea not null,
  error text not null,
  failures integer not null default 1,
  failed_at timestamptz not null default now(),
  replay_requested_at timestamptz,
  replayed_at timestamptz,
  -- Of key, headers and payload, since the same message may be delivered again. Its place on the bus would not do: a topic that is made
  -- anew gives the same places to other messages.
  digest bytea not null,
  unique (consumer_group, digest)
);

create index dead_letters_to_replay on dead_letters (consumer_group, id) where replay_requested_at is not null;
