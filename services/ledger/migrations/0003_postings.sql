-- One line of an entry, and of one account's statement. Each partition has a unique index on (account_number, sequence): the statement's order.
create table postings (
  account_number bigint not null,
  sequence bigint not null,
  amount_won bigint not null,
  balance_after_won bigint not null,
  entry_id uuid not null,
  org_id uuid not null,
  -- The TransactionType of the contract.
  type smallint not null,
  constraint postings_move_something check (amount_won <> 0),
  constraint postings_sequence_positive check (sequence > 0),
  constraint postings_type_known check (type between 1 and 10)
) partition by range (entry_id);
