-- The Idempotency-Key under which a record was made, and the hash of what was asked for under it. They stay as long as the record does.
alter table records
  add column idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  add column body_hash bytea,
  add constraint records_key_has_hash check ((idempotency_key is null) = (body_hash is null));

create unique index records_by_key on records (org_id, idempotency_key) where idempotency_key is not null;
