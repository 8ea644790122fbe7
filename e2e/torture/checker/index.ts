// The checker judges a finished run by its history, the public API, the database and the chain. It
// imports no code of the product: its rules are written a second time, from the documentation.
import { readHistory } from "../history";
import { checkAcknowledged } from "./acknowledged";
import { openReader, type PublicEvent } from "./api";
import { checkChain } from "./chain/checkChain";
import { readChain } from "./chain/readChain";
import { readSettlements } from "./chain/readSettlements";
import { withDatabase } from "./database";
import { checkDeliveries } from "./events/checkDeliveries";
import { checkEvents } from "./events/checkEvents";
import { readWebhooks } from "./events/readWebhooks";
import { readFacts, type RunFacts } from "./facts";
import { checkEffects, linkEntries } from "./journal/checkEffects";
import { checkJournal, checkTimes } from "./journal/checkJournal";
import { readJournal, type Journal } from "./journal/readJournal";
import { systemChangesOf } from "./journal/systemChanges";
import { checkKeys } from "./keys";
import { collectHistory, mergeByKey, type Operation } from "./operations";
import { describeViolations } from "./report";
import { checkResources } from "./resources";
import { checkTenants } from "./tenants";
import { findUnfinished, findUnknownOutcomes } from "./unfinished";
import { type Violation } from "./violation";
import { checkWallets } from "./wallets/checkWallets";
import { type Wallet } from "./wallets/walletIndex";

export { findUnfinished } from "./unfinished";
export { type RunFacts } from "./facts";
export { type Violation } from "./violation";
export { shrinkSchedule } from "./shrink";

/** Runs all checks. The world of the run must still be up, with all its work done. */
export async function checkHistory(historyFile: string, facts: RunFacts): Promise<Violation[]> {
  const history = await collectHistory(readHistory(historyFile));
  const operations = mergeByKey(history.operations);
  const journals = await inTurn(facts.organisations, (organisation) => readJournal(facts, organisation));
  const wallets = await readWallets(facts);
  const events = new Map<string, PublicEvent[]>();
  for (const organisation of facts.organisations)
    events.set(organisation.code, await openReader(facts, organisation).events());

  return [
    ...checkKeys(history.operations),
    ...findUnknownOutcomes(operations),
    ...checkMoney(operations, journals, wallets),
    ...(await findUnfinished(facts)),
    ...(
      await inTurn(facts.organisations, (organisation) =>
        checkAcknowledged(
          operations.filter((operation) => operation.organisation === organisation.code),
          openReader(facts, organisation),
        ),
      )
    ).flat(),
    ...(await checkChain({
      chain: await readChain(facts),
      journals,
      addresses: new Map(wallets.map(({ walletId, address }) => [walletId, address])),
      settlements: (await inTurn(facts.organisations, (one) => readSettlements(facts, one))).flat(),
    })),
    ...journals.flatMap((journal) => {
      const own = operations.filter(({ organisation }) => organisation === journal.organisation);
      return checkEvents(journal, events.get(journal.organisation)!, own);
    }),
    ...(await readWebhooks(facts)).flatMap((webhook) =>
      checkDeliveries(webhook, events.get(webhook.organisation) ?? [], history.deliveries),
    ),
    ...(await checkTenants(facts, history.operations, events)),
    ...checkResources(facts),
  ];
}

/** Checks a stored history again, while its world is up. Returns the violations and their description. */
export async function replayHistory(historyFile: string): Promise<{ violations: Violation[]; text: string }> {
  const violations = await checkHistory(historyFile, readFacts(historyFile));
  return { violations, text: await describeViolations(violations, readHistory(historyFile)) };
}

function checkMoney(operations: Operation[], journals: Journal[], wallets: Wallet[]): Violation[] {
  const links = linkEntries(journals, operations);
  const sequenceOf = (operation: Operation) => links.entryOf(operation)?.sequence;
  const rates = new Map(journals.map(({ organisation, rules }) => [organisation, rules.incentiveRateBps]));
  const frozen = journals.flatMap(({ entries }) =>
    entries.flatMap(({ kind, touched }) => (kind === "freezeAccount" ? touched : [])),
  );
  return [
    ...checkEffects(journals, operations, links),
    ...checkTimes(operations, sequenceOf),
    ...journals.flatMap((journal) => checkJournal(journal, links.operationOf)),
    ...checkWallets(operations, {
      ...{ wallets, sequenceOf, frozenWallets: new Set(frozen) },
      rateBps: (organisation) => rates.get(organisation) ?? 0,
      systemChanges: journals.flatMap((journal) => systemChangesOf(journal, links)),
    }),
  ];
}

async function readWallets(facts: RunFacts): Promise<Wallet[]> {
  const codes = new Map(facts.organisations.map(({ id, code }) => [id, code]));
  const rows = await withDatabase(facts, "wallet", (query) =>
    query<{ orgId: string; userId: string } & Omit<Wallet, "organisation" | "user">>(
      `select org_id as "orgId", wallet_id as "walletId", user_id as "userId", wallet_type as type, address
       from wallets where org_id = any($1)`,
      [[...codes.keys()]],
    ),
  );
  return rows.map(({ orgId, userId, ...wallet }) => {
    const organisation = codes.get(orgId)!;
    return { ...wallet, organisation, user: `${organisation} ${userId}` };
  });
}

async function inTurn<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
