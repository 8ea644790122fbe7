-- no-transaction
-- A charge is shown with the newest of its cancellations, and one of a thousand parts is not looked through for them. Nobody asks by the charge alone.
drop index concurrently if exists charge_cancels_newest;
create index concurrently charge_cancels_newest on charge_cancels (org_id, charge_id, cancel_id);
drop index concurrently if exists charge_cancels_of_charge;
