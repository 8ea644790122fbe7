import { type Queryable, sql, type Tx } from "../db";
import { type ActionEffect, type Proposal, type ProposalStateName } from "./proposalRules";

export interface NewProposal extends ActionEffect {
  proposalId: string;
  method: string;
  request: Buffer;
  proposedBy: string;
  reason: string;
}

/** Stores a proposal. Returns undefined when an equal one is open. */
export async function insertProposal(tx: Tx, proposal: NewProposal): Promise<Proposal | undefined> {
  const { proposalId, method, request, orgId, subject, amountWon, effect, proposedBy, reason } = proposal;
  await tx.run(sql`
    update operator_proposals set state = 'EXPIRED'
    where method = ${method} and sha256(request) = sha256(${request}::bytea) and ${IS_EXPIRED}`);
  const [stored] = await tx.write<Proposal>(sql`
    insert into operator_proposals
      (proposal_id, method, request, org_id, subject, amount_won, effect, proposed_by, reason, proposed_at, expires_at)
    select ${proposalId}, ${method}, ${request}, ${orgId ?? null}, ${subject}, ${amountWon ?? null}, ${effect},
      ${proposedBy}, ${reason}, now, now + interval '24 hours'
    from (select date_trunc('milliseconds', clock_timestamp()) as now) clock
    on conflict (method, sha256(request)) where state = 'OPEN' do nothing
    returning ${RESULT}`);
  return stored;
}

export function findOpenProposal(
  db: Queryable,
  method: string,
  request: Buffer,
): Promise<Proposal | undefined> {
  return db.maybe<Proposal>(sql`
    select ${RESULT} from operator_proposals
    where method = ${method} and sha256(request) = sha256(${request}::bytea) and state = 'OPEN'`);
}

export function findProposal(db: Queryable, proposalId: string): Promise<Proposal | undefined> {
  return db.maybe<Proposal>(sql`select ${RESULT} from operator_proposals where proposal_id = ${proposalId}`);
}

/** A second decision waits for the first and then finds its outcome. */
export function lockProposal(tx: Tx, proposalId: string): Promise<Proposal | undefined> {
  return tx.maybe<Proposal>(sql`
    select ${RESULT} from operator_proposals where proposal_id = ${proposalId} for no key update`);
}

export interface Decision {
  state: Extract<ProposalStateName, "APPROVED" | "REJECTED" | "WITHDRAWN">;
  decidedBy: string;
  reason: string;
}

export async function decideProposal(
  tx: Tx,
  proposalId: string,
  { state, decidedBy, reason }: Decision,
): Promise<Proposal> {
  const [decided] = await tx.write<Proposal>(sql`
    update operator_proposals
    set state = ${state}, decided_by = ${decidedBy}, decision_reason = ${reason}, decided_at = clock_timestamp()
    where proposal_id = ${proposalId} and state = 'OPEN'
    returning ${RESULT}`);
  return decided!;
}

/** Newest first. */
export function listProposals(
  db: Queryable,
  { state, beforeId, limit }: { state: ProposalStateName; beforeId: string | null; limit: number },
): Promise<Proposal[]> {
  return db.query<Proposal>(sql`
    select ${RESULT} from operator_proposals
    where (${beforeId}::text is null or proposal_id < ${beforeId}) and ${STATE} = ${state}
    order by proposal_id desc limit ${limit}`);
}

/** The number of open proposals, and the age of the oldest. */
export function countOpenProposals(db: Queryable): Promise<{ open: number; oldestSeconds: number }> {
  return db.one(sql`
    select count(*)::integer as open,
      coalesce(extract(epoch from clock_timestamp() - min(proposed_at)), 0)::float8 as "oldestSeconds"
    from operator_proposals where state = 'OPEN' and not ${IS_EXPIRED}`);
}

const IS_EXPIRED = sql`(state = 'OPEN' and expires_at <= clock_timestamp())`;
const STATE = sql`case when ${IS_EXPIRED} then 'EXPIRED' else state end`;
const RESULT = sql`
  proposal_id as "proposalId", ${STATE} as state, method, request, org_id as "orgId", subject,
  amount_won as "amountWon", effect, proposed_by as "proposedBy", reason, proposed_at as "proposedAt",
  expires_at as "expiresAt", decided_by as "decidedBy", decision_reason as "decisionReason",
  decided_at as "decidedAt"`;
