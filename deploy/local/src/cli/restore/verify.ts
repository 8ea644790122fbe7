import { table } from "@wonrail/kit/command";
import { type Verification as LedgerVerification } from "@wonrail/proto/ledger/v1/admin";
import { type Drift, type OpenOperation } from "@wonrail/proto/relayer/v1/admin";
import { differenceRow, MOST_DIFFERENCES } from "./differences";
import { type FeedReading, readFeeds } from "./feeds";
import { SERVICES, withAdmin, withAuth, withLedger, withRelayer, withWallet, type World } from "./clients";

/** The state of all parts after a restore. */
export interface Verification {
  /** Differences between chain, settlement and ledger that no operator has acknowledged. */
  differences: Drift[];
  /** Operations that an operator must end. */
  undecided: OpenOperation[];
  feeds: FeedReading[];
  /** Sentences. Empty when the restore can end. */
  problems: string[];
}

export async function verify(world: World): Promise<Verification> {
  const { restore, differences, undecided, obstacles } = await withRelayer(world, (relayer, operator) =>
    relayer.getRestore({ operator, limit: MOST_DIFFERENCES }),
  );
  const feeds = await readFeeds(world);
  const { verifications } = await withLedger(world, (ledger, operator) => ledger.getOverview({ operator }));
  const problems = [
    ...(restore ? [] : ["No restore is under way: npx wonrail restore prepare."]),
    ...obstacles,
    ...feeds.flatMap(feedProblem),
    ...ledgerProblems(verifications, restore?.preparedAt),
    ...(await sealProblems(world)),
    ...(await trailProblems(world)),
  ];
  return { differences, undecided, feeds, problems };
}

export function describeVerification({ differences, undecided, feeds, problems }: Verification): string[] {
  const operations = undecided.map(({ endings: _, ...operation }) => operation);
  return [
    "Differences:",
    ...table(differences.map(differenceRow)),
    "",
    "Operations that wait for an operator:",
    ...table(operations),
    "",
    "Feeds and their consumers:",
    ...table(feeds),
    "",
    ...(problems.length === 0 ? ["Everything agrees. Next: npx wonrail restore resume."] : problems),
  ];
}

function feedProblem({ topic, group, behind, deadLetters }: FeedReading): string[] {
  return [
    ...(behind === 0 ? [] : [`${group} is ${behind} events behind ${topic}. Wait, or see its log.`]),
    ...(deadLetters === 0 ? [] : [`${group} has ${deadLetters} dead letters of ${topic}: dead-letter list.`]),
  ];
}

/** The ledger checks its accounts each minute. */
function ledgerProblems(verifications: LedgerVerification[], preparedAt: Date | undefined): string[] {
  const isRecent = verifications.some(
    ({ scope, finishedAt }) => scope === "accounts" && preparedAt && finishedAt! > preparedAt,
  );
  return [
    ...(isRecent ? [] : ["The ledger has not verified its accounts since the restore. Wait a minute."]),
    ...verifications.flatMap(({ scope, violations, brokenInvariants }) =>
      violations === 0 ? [] : [`The ledger's ${scope} break ${brokenInvariants.join(", ")}: verify.`],
    ),
  ];
}

async function sealProblems(world: World): Promise<string[]> {
  const { checks } = await withWallet(world, (wallet, operator) => wallet.checkSeals({ operator }));
  return checks.flatMap(({ kekId, problem }) =>
    problem === undefined ? [] : [`Seeds under the key ${kekId} do not open: ${problem}.`],
  );
}

/** Follows the hash chains of auth's trail and of the operators' actions in each service. */
async function trailProblems(world: World): Promise<string[]> {
  const { problems } = await withAuth(world, (auth, operator) => auth.verifyAuditTrail({ operator }));
  const found = problems.map(({ orgId, problem }) => `The audit trail of ${orgId} is broken: ${problem}.`);
  for (const service of SERVICES) {
    const { problem } = await withAdmin(world, service, (client, operator) =>
      client.verifyOperatorActions({ operator }),
    );
    if (problem !== undefined) found.push(`The trail of operators in ${service} is broken: ${problem}.`);
  }
  return found;
}
