-- Actions of this service that wait for the approval of a second operator. The row of an approved
-- proposal ends in the transaction of its action, so an action runs at most once.
create table operator_proposals (
  proposal_id text primary key,
  -- The RPC that the approval runs, with exactly these bytes.
  method text not null,
  request bytea not null,
  -- Null for an action that concerns no single organisation.
  org_id text,
  -- The action must still have this subject, amount and effect when it runs.
  subject text not null,
  amount_won bigint,
  effect text not null,
  proposed_by text not null,
  reason text not null,
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  -- An OPEN proposal after its expiry counts as EXPIRED.
  state text not null default 'OPEN',
  decided_by text,
  decision_reason text,
  decided_at timestamptz,
  constraint operator_proposals_state_known
    check (state in ('OPEN', 'APPROVED', 'REJECTED', 'WITHDRAWN', 'EXPIRED')),
  constraint operator_proposals_has_operator check (proposed_by <> '' and reason <> ''),
  constraint operator_proposals_expires_within_a_day
    check (expires_at > proposed_at and expires_at <= proposed_at + interval '24 hours'),
  constraint operator_proposals_is_decided_by_operator check (
    (state in ('OPEN', 'EXPIRED')) = (decided_by is null)
    and (decided_by is null) = (decided_at is null)
    and (decided_by is null) = (decision_reason is null)),
  constraint operator_proposals_second_operator
    check (state <> 'APPROVED' or lower(decided_by) <> lower(proposed_by)),
  constraint operator_proposals_own_withdrawal
    check (state <> 'WITHDRAWN' or lower(decided_by) = lower(proposed_by)),
  constraint operator_proposals_approved_in_time
    check (state <> 'APPROVED' or decided_at < expires_at)
);

-- The same call twice is one proposal.
create unique index operator_proposals_one_open on operator_proposals (method, sha256(request))
  where state = 'OPEN';

-- A proposal is history: its terms never change.
do $$ begin
  execute format('revoke update, delete on operator_proposals from %I', 'wonrail_' || current_schema());
  execute format('grant update (state, decided_by, decision_reason, decided_at) on operator_proposals to %I',
    'wonrail_' || current_schema());
end $$;
