-- no-transaction
-- What the cancellation of a payment did, which only its answer has said so far. Nothing is written here when a payment is made, and nothing by a release that
-- does not know it.
alter table payments
  add column cancelled_at timestamptz,
  add column cancel_memo text,
  add column restored_incentive_won bigint,
  add column restored_normal_won bigint,
  add column clawed_back_won bigint,
  add column kept_won bigint,
  -- The ledger decides; this is the second lock on the same door. It holds for what is not known, too.
  add constraint payments_taken_back_whole check (
    restored_incentive_won = incentive_won
    and restored_normal_won + kept_won = normal_won
    and clawed_back_won + kept_won = accrued_won) not valid;
-- What was cancelled before, as far as the answer is not forgotten. It ends with what was kept: the field's tag, a byte that counts the digits, and the digits.
update payments p set
  cancel_memo = said.memo,
  restored_incentive_won = case when said.kept_won is not null then p.incentive_won end,
  restored_normal_won = p.normal_won - said.kept_won,
  clawed_back_won = p.accrued_won - said.kept_won,
  kept_won = said.kept_won
from (
  select org_id, operation_id, input ->> 'memo' as memo,
    substring(encode(answer, 'escape') from '2[\u0001-\u0013]([0-9]+)$')::bigint as kept_won
  from operations where kind = 'CANCEL_PAYMENT' and state = 'DONE') as said
where p.org_id = said.org_id and p.cancel_id = said.operation_id and p.cancelled_at is null;
-- Where nothing was accrued there is nothing to ask for: all of it went back.
update payments set restored_incentive_won = incentive_won, restored_normal_won = normal_won, clawed_back_won = 0, kept_won = 0
where status = 'CANCELLED' and accrued_won = 0 and kept_won is null;
alter table payments validate constraint payments_taken_back_whole;
