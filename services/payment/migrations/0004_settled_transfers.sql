-- no-transaction
-- Whose hold is to be ended: of a PENDING transfer, when the chain's last word about it was taken in. What still waits for that word is not looked through.
alter table transfers add column if not exists settled_at timestamptz;
drop index concurrently if exists transfers_settled;
create index concurrently transfers_settled on transfers (settled_at, transfer_id) where status = 'PENDING' and settled_at is not null;
