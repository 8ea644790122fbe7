-- Each filter of a list that few rows match has an index that ends with the id, which is in the order of time.
create index transfers_by_reference on transfers (org_id, reference, transfer_id) where reference is not null;
create index transfers_not_completed on transfers (org_id, transfer_id) where status <> 'COMPLETED';
create index charges_by_reference on charges (org_id, reference, charge_id) where reference is not null;
create index charges_cancelled on charges (org_id, charge_id) where cancelled_won > 0;
create index refunds_by_reference on refunds (org_id, reference, refund_id) where reference is not null;
create index refunds_of_wallet on refunds (org_id, wallet_id, refund_id);
create index payments_by_reference on payments (org_id, reference, payment_id) where reference is not null;
create index payments_cancelled on payments (org_id, payment_id) where cancel_id is not null;
create index payments_refunded on payments (org_id, payment_id) where refunded_won > 0;
create index settlements_failed on settlements (org_id, ledger_ref) where status = 'FAILED';
