-- How much of a charge is cancelled. A row is made with the first part, so that a charge itself costs nothing.
create table cancelled_charges (
  org_id uuid not null,
  charge_id uuid not null,
  amount_won bigint not null,
  cancelled_won bigint not null,
  constraint cancelled_charges_key primary key (org_id, charge_id),
  constraint cancelled_charges_at_most_the_charge check (cancelled_won > 0 and cancelled_won <= amount_won)
);
