-- no-transaction
-- An address alone, the usual question, is one walk along each of these instead of one for each state.
drop index concurrently if exists records_sender_newest;
create index concurrently records_sender_newest on records (org_id, from_address, record_id);
drop index concurrently if exists records_recipient_newest;
create index concurrently records_recipient_newest on records (org_id, to_address, record_id) include (from_address);
-- As records_by_recipient was, and with the sender, so that counting need not visit the rows to leave out those that a sender sent itself.
drop index concurrently if exists records_recipient_states;
create index concurrently records_recipient_states on records (org_id, to_address, status, payment_type, record_id) include (from_address);
drop index concurrently if exists records_by_recipient;
