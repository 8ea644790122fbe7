-- Events that a consumer group could not handle, whole, with the error. Headers are json and not
-- jsonb, because jsonb refuses some text. No statement reads a header out of them.
create table dead_letters (
  id bigint generated always as identity primary key,
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  -- Null when the message carried no number: no service of this product published it.
  feed_number bigint,
  message_key text not null,
  event_type text not null,
  headers json not null,
  payload bytea not null,
  error text not null,
  failures integer not null default 1,
  failed_at timestamptz not null default now(),
  replay_requested_at timestamptz,
  replayed_at timestamptz,
  -- Set when an operator gave the event up. The row stays as the proof.
  dropped_at timestamptz,
  -- The digest covers key, headers and payload, because Kafka may deliver the same message again.
  digest bytea not null,
  unique (consumer_group, digest),
  constraint dead_letters_end_once check (
    dropped_at is null or replayed_at is null and replay_requested_at is null)
);

-- Letters that an operator must look at are counted per feed.
create index dead_letters_open on dead_letters (consumer_group, topic)
  where replayed_at is null and dropped_at is null;
create index dead_letters_to_replay on dead_letters (consumer_group, id) where replay_requested_at is not null;
