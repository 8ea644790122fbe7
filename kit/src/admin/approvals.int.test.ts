import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { type OperatorRole, ProposalState } from "@wonrail/proto/common/v1/common";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import fc from "fast-check";
import { newId } from "../contract/ids";
import { type Database, sql, tx, type Tx } from "../db";
import { openTestDatabase } from "../testing";
import { buildWorld } from "../testing/buildWorld";
import {
  actionsOf,
  createAdminService,
  implementAdmin,
  listOperatorActions,
  recordOperatorAction,
  roleMessage,
  type RoleName,
  verifyOperatorActions,
} from ".";

// The wallet service's definition with an action on a table of this test: a reopening is counted.

const ORG = newId("org");
/** Runs in the action's transaction after its record. */
let afterRecord: (tx: Tx) => Promise<unknown> = async () => undefined;

const world = buildWorld(async (open) => {
  const { db, ownerUrl } = await open.database({ schema: "sample" });
  const owner = await open.use(openTestDatabase(ownerUrl, "sample", { max: 2 }));
  await owner.run(
    sql`create table wallets (wallet_id text primary key, reopened integer not null default 0)`,
  );
  const actions = walletActions(db);
  const common = { db, service: "wallet", commit: "0", topic: undefined };
  const { address } = await open.server([actions, createAdminService(common, actionsOf([actions]))]);
  return {
    ...{ db, owner },
    wallet: open.client(WalletAdminServiceService, address),
    admin: open.client(AdminServiceService, address),
  };
});
afterAll(async () => (await world).close());
beforeEach(() => (afterRecord = async () => undefined));

function walletActions(db: Database) {
  const notAsked = () => Promise.reject(new Error("this test does not call it"));
  return implementAdmin(
    WalletAdminServiceService,
    {
      checkSeals: notAsked,
      resealSeeds: notAsked,
      reenterLostWallets: notAsked,
      skipKeyIndexes: notAsked,
      getReopening: notAsked,
      search: notAsked,
      getWalletDetails: notAsked,
      listOrganisationWallets: notAsked,
      listSignings: notAsked,
      reopenWallet: ({ orgId, walletId }, { operator }) =>
        tx(db, async (tx) => {
          const [row] = await tx.write<{ reopened: number }>(sql`
            update wallets set reopened = reopened + 1 where wallet_id = ${walletId} returning reopened`);
          if (!row) throw new Error(`there is no wallet ${walletId}`);
          const effect = `Reopen ${walletId} for the time ${row.reopened}.`;
          await recordOperatorAction(tx, operator, { orgId, subject: walletId, effect });
          await afterRecord(tx);
          return {};
        }),
    },
    db,
  );
}

async function newWallet(): Promise<string> {
  const walletId = newId("wal");
  await (await world).db.run(sql`insert into wallets (wallet_id) values (${walletId})`);
  return walletId;
}

async function reopenedTimes(walletId: string): Promise<number> {
  const { db } = await world;
  const row = await db.one<{ reopened: number }>(
    sql`select reopened from wallets where wallet_id = ${walletId}`,
  );
  return row.reopened;
}

const as = (name: string, ...roles: RoleName[]) => {
  const held: OperatorRole[] = (roles.length === 0 ? (["treasury"] as const) : roles).map(roleMessage);
  return { name, roles: held, reason: `${name} says so` };
};
const propose = async (walletId: string, operator = as("kim")) => {
  const { proposal } = await (await world).wallet.reopenWallet({ operator, orgId: ORG, walletId });
  return proposal!;
};
const approve = async (proposalId: string, operator = as("lee")) =>
  (await (await world).admin.approveProposal({ operator, proposalId })).approved!;
const reject = async (proposalId: string, operator = as("lee")) =>
  (await (await world).admin.rejectProposal({ operator, proposalId })).ended!;
const expire = async (proposalId: string) =>
  (await world).owner.run(sql`
    update operator_proposals
    set proposed_at = proposed_at - interval '25 hours', expires_at = expires_at - interval '25 hours'
    where proposal_id = ${proposalId}`);

test("a call becomes a proposal, and another operator's approval acts once", async () => {
  const { db, admin } = await world;
  const walletId = await newWallet();
  const proposal = await propose(walletId);
  expect(proposal).toMatchObject({
    ...{ state: ProposalState.OPEN, method: "wonrail.wallet.v1.WalletAdminService/ReopenWallet" },
    ...{ role: roleMessage("treasury"), orgId: ORG, subject: walletId, proposedBy: "kim" },
    effect: `Reopen ${walletId} for the time 1.`,
  });
  expect(proposal.expiresAt!.getTime() - proposal.proposedAt!.getTime()).toBe(86_400_000);
  expect(await reopenedTimes(walletId)).toBe(0);

  const approved = await approve(proposal.proposalId);
  expect(approved).toMatchObject({ state: ProposalState.APPROVED, decidedBy: "lee" });
  expect(await reopenedTimes(walletId)).toBe(1);
  // A retry after a lost answer.
  expect(await approve(proposal.proposalId)).toEqual(approved);
  expect(await reopenedTimes(walletId)).toBe(1);

  const { proposals } = await admin.listProposals({
    ...{ operator: as("kim", "viewer"), state: ProposalState.APPROVED, limit: 1, beforeId: undefined },
  });
  expect(proposals).toEqual([approved]);
  expect(await listOperatorActions(db, { limit: 3 })).toMatchObject([
    { operator: "lee", method: proposal.method, subject: walletId },
    {
      ...{ operator: "lee", reason: "lee says so", subject: proposal.proposalId },
      method: "wonrail.common.v1.AdminService/ApproveProposal",
    },
    { operator: "kim", reason: "kim says so", method: proposal.method, subject: proposal.proposalId },
  ]);
  const [action] = await listOperatorActions(db, { limit: 1 });
  expect(JSON.parse(action!.details)).toEqual({
    ...{ proposalId: proposal.proposalId, proposedBy: "kim", proposedReason: "kim says so" },
  });
});

test.each([
  ["the proposer", as("kim"), { code: "REQ_001", details: { fields: [{ path: "operator.name" }] } }],
  [
    "the proposer in capitals",
    as("KIM"),
    { code: "REQ_001", details: { fields: [{ path: "operator.name" }] } },
  ],
])("%s cannot approve", async (_who, operator, refusal) => {
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  await expect(approve(proposalId, operator)).rejects.toMatchObject(refusal);
  expect(await reopenedTimes(walletId)).toBe(0);
  expect(await approve(proposalId)).toMatchObject({ state: ProposalState.APPROVED });
});

test.each([
  ["viewer", ["viewer"]],
  ["support and compliance", ["support", "compliance"]],
] as const)("an operator with the role %s can neither approve nor reject", async (_what, roles) => {
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  const operator = as("lee", ...roles);
  const lacksRole = expect.stringContaining("lacks the role treasury") as string;
  for (const decide of [approve, reject])
    await expect(decide(proposalId, operator)).rejects.toMatchObject({
      cause: { cause: { details: lacksRole } },
    });
  expect(await reopenedTimes(walletId)).toBe(0);
  expect(await approve(proposalId, as("lee", "admin"))).toMatchObject({ state: ProposalState.APPROVED });
});

test("the database refuses an approval by the proposer, a late one, and changed terms", async () => {
  const { db } = await world;
  const { proposalId } = await propose(await newWallet());
  const decide = (name: string) => sql`
    update operator_proposals set state = 'APPROVED', decided_by = ${name}, decision_reason = 'x', decided_at = now()
    where proposal_id = ${proposalId}`;
  for (const name of ["kim", "Kim"])
    await expect(db.run(decide(name))).rejects.toMatchObject({
      constraint: "operator_proposals_second_operator",
    });
  await expect(db.run(sql`update operator_proposals set effect = 'x'`)).rejects.toThrow("permission denied");
  await expect(db.run(sql`delete from operator_proposals`)).rejects.toThrow("permission denied");
  await expire(proposalId);
  await expect(db.run(decide("lee"))).rejects.toMatchObject({
    constraint: "operator_proposals_approved_in_time",
  });
});

test("a withdrawn, a rejected and an expired proposal cannot be approved", async () => {
  const walletId = await newWallet();
  const first = await propose(walletId);
  // Withdrawing needs no role: its operator may have lost it.
  expect(await reject(first.proposalId, as("kim", "viewer"))).toMatchObject({
    state: ProposalState.WITHDRAWN,
  });
  const second = await propose(walletId);
  expect(await reject(second.proposalId)).toMatchObject({ state: ProposalState.REJECTED, decidedBy: "lee" });
  const third = await propose(walletId);
  await expire(third.proposalId);
  for (const { proposalId } of [first, second, third])
    await expect(approve(proposalId, as("park"))).rejects.toMatchObject({ code: "REQ_001" });
  await expect(reject(third.proposalId)).rejects.toMatchObject({ code: "REQ_001" });
  expect(await reopenedTimes(walletId)).toBe(0);
  // An expired proposal does not stand in the way of the next one.
  await approve((await propose(walletId)).proposalId);
  expect(await reopenedTimes(walletId)).toBe(1);
});

test("an equal open proposal is found again by its operator, and named to another", async () => {
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  expect((await propose(walletId)).proposalId).toBe(proposalId);
  await expect(propose(walletId, as("lee"))).rejects.toMatchObject({
    details: { fields: [{ path: "proposalId", message: expect.stringContaining(proposalId) as string }] },
  });
  const both = await Promise.all([propose(await newWallet()), propose(await newWallet())]);
  expect(new Set([proposalId, ...both.map((one) => one.proposalId)]).size).toBe(3);
});

test("an approval is refused when the action has another effect by then", async () => {
  const { owner } = await world;
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  await owner.run(sql`update wallets set reopened = 5 where wallet_id = ${walletId}`);
  await expect(approve(proposalId)).rejects.toMatchObject({
    details: {
      fields: [{ message: expect.stringContaining(`Reopen ${walletId} for the time 6.`) as string }],
    },
  });
  expect(await reopenedTimes(walletId)).toBe(5);
});

test("a call that cannot work stores no proposal", async () => {
  const { db } = await world;
  const count = () => db.one<{ count: bigint }>(sql`select count(*) from operator_proposals`);
  const before = await count();
  await expect(propose(newId("wal"))).rejects.toThrow();
  await expect(propose(await newWallet(), { ...as("kim"), reason: " " })).rejects.toMatchObject({
    code: "REQ_001",
  });
  expect(await count()).toEqual(before);
});

test("a crash between the end of the proposal and the commit leaves both undone", async () => {
  const { db, owner } = await world;
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  const stateOf = () =>
    owner.one<{ state: string }>(sql`select state from operator_proposals where proposal_id = ${proposalId}`);
  afterRecord = async (tx) => {
    const used = sql`select state from operator_proposals where proposal_id = ${proposalId}`;
    expect(await tx.one(used)).toEqual({ state: "APPROVED" });
    await tx.query(sql`select pg_terminate_backend(pg_backend_pid())`);
  };
  await expect(approve(proposalId)).rejects.toThrow();
  expect([await reopenedTimes(walletId), await stateOf()]).toEqual([0, { state: "OPEN" }]);
  afterRecord = async () => undefined;
  await approve(proposalId);
  expect([await reopenedTimes(walletId), await stateOf()]).toEqual([1, { state: "APPROVED" }]);
  expect(await verifyOperatorActions(db)).toMatchObject({ broken: null });
});

test("a proposal is decided once when twenty operators approve, reject and withdraw together", async () => {
  const { db } = await world;
  const walletId = await newWallet();
  const { proposalId } = await propose(walletId);
  const decisions = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => {
      if (index % 5 === 4) return reject(proposalId, as(index === 4 ? "kim" : `operator ${index}`));
      return approve(proposalId, as(`operator ${index}`));
    }),
  );
  const decided = decisions.flatMap((one) => (one.status === "fulfilled" ? [one.value.state] : []));
  expect(decided).toHaveLength(1);
  expect(await reopenedTimes(walletId)).toBe(decided[0] === ProposalState.APPROVED ? 1 : 0);
  expect(await verifyOperatorActions(db)).toMatchObject({ broken: null });
});

const OPERATORS = ["kim", "lee", "park"];
const command = fc.record({
  kind: fc.constantFrom("propose", "approve", "reject", "expire"),
  wallet: fc.nat({ max: 1 }),
  operator: fc.constantFrom(...OPERATORS),
});

test("any sequence of commands acts as the rules say, and never for one operator alone", async () => {
  const { db } = await world;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 14 }), async (commands) => {
      const wallets = [await newWallet(), await newWallet()];
      const open: (undefined | { proposalId: string; by: string })[] = [undefined, undefined];
      const last: string[] = ["", ""];
      const reopened = [0, 0];
      for (const { kind, wallet, operator } of commands) {
        const [walletId, current] = [wallets[wallet]!, open[wallet]];
        if (kind === "propose") {
          const proposed = propose(walletId, as(operator));
          if (current && current.by !== operator)
            await expect(proposed).rejects.toMatchObject({ code: "REQ_001" });
          else {
            const { proposalId } = await proposed;
            expect(proposalId === current?.proposalId).toBe(current !== undefined);
            open[wallet] = { proposalId, by: operator };
            last[wallet] = proposalId;
          }
        } else if (last[wallet] !== "") {
          if (kind === "expire") {
            if (current) await expire(current.proposalId);
            open[wallet] = undefined;
            continue;
          }
          const isAllowed = current !== undefined && (kind === "reject" || current.by !== operator);
          const decided = (kind === "approve" ? approve : reject)(last[wallet]!, as(operator));
          const outcome = await decided.then(
            ({ decidedBy }) => decidedBy,
            () => undefined,
          );
          if (isAllowed) {
            expect(outcome).toBe(operator);
            open[wallet] = undefined;
            if (kind === "approve") reopened[wallet]! += 1;
          }
        }
        expect(await reopenedTimes(walletId)).toBe(reopened[wallet]);
      }
    }),
    { numRuns: 40 },
  );
  const alone = sql`select from operator_proposals where state = 'APPROVED' and lower(decided_by) = lower(proposed_by)`;
  expect(await db.query(alone)).toEqual([]);
  expect(await verifyOperatorActions(db)).toMatchObject({ broken: null });
}, 240_000);
