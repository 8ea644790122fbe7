-- The contracts that operations of this database were ever settled through, in the order in which they were taken into use: what any of them says is ours,
-- and the last one is called. What only uses up a nonce is sent to its own signer.
create table payment_managers (
  address text primary key check (address = lower(address)),
  turn bigint not null generated always as identity,
  adopted_at timestamptz not null default now()
);
insert into payment_managers (address)
select lower(recipient) from transactions where lower(recipient) <> lower(signer) group by 1 order by max(transaction_id);
