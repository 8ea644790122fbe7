-- A payment is cancelled once.
create table cancelled_payments (
  org_id uuid not null,
  payment_id uuid not null,
  cancel_id uuid not null,
  constraint cancelled_payments_key primary key (org_id, payment_id)
);
