-- The index by type, at a hundredth of its cost: for each full block of 128 postings of an account, which types are in it. The types of the
-- block that is not full yet are on the account. A statement by type reads the blocks that have the type, and in them nothing but matches and
-- their neighbours.
create table type_blocks (
  account_number bigint not null,
  type smallint not null,
  -- Of the block's last posting: a multiple of 128.
  sequence bigint not null,
  constraint type_blocks_key primary key (account_number, type, sequence)
);
