-- What was moved by each authorization: after a restore the ledger may give an entry the number of one that it has forgotten, and with it the names of the
-- forgotten one's legs. Null in rows of before, which are taken at their word, and in those that the release before still writes.
alter table used_authorizations
  add column to_address text,
  add column units numeric(78, 0),
  add constraint used_authorizations_moved_something check ((to_address is null) = (units is null));
