-- no-transaction
-- A pattern that counts to 64 is thirty times as dear as a length and a pattern that looks for what is wrong, and it is looked at with each change of a row.
alter table operations drop constraint if exists operations_operation_id_check;
alter table operations drop constraint if exists operations_operation_id_is_hex;
alter table operations add constraint operations_operation_id_is_hex
  check (length(operation_id) = 64 and operation_id !~ '[^0-9a-f]') not valid;
alter table operations validate constraint operations_operation_id_is_hex;
