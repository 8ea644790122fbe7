// The checker judges a finished run by its history and its facts, which are files. The facts come
// from the public API, the database and the chain. The checker imports no code of the product: its
// rules are written a second time, from the documentation.
import { readHistory } from "../history";
import { checkAcknowledged } from "./acknowledged";
import { checkChain } from "./chain/checkChain";
import { chainOf } from "./chain/readChain";
import { checkDeliveries } from "./events/checkDeliveries";
import { checkEvents } from "./events/checkEvents";
import { readFacts } from "./facts";
import { checkEffects, linkEntries } from "./journal/checkEffects";
import { checkJournal, checkTimes } from "./journal/checkJournal";
import { type Journal } from "./journal/readJournal";
import { systemChangesOf } from "./journal/systemChanges";
import { checkKeys } from "./keys";
import { checkObserved } from "./observed";
import { collectHistory, mergeByKey, type Operation } from "./operations";
import { describeViolations } from "./report";
import { checkResources } from "./resources";
import { checkTenants } from "./tenants";
import { findUnexpectedErrors } from "./unexpected";
import { checkUnfinished, findUnknownOutcomes } from "./unfinished";
import { type Violation } from "./violation";
import { checkWallets } from "./wallets/checkWallets";
import { type Wallet } from "./wallets/walletIndex";

export { type WorldAccess } from "./access";
export { collectFacts } from "./collectFacts";
export { type Observed, type Sample } from "./facts";
export { checkResources } from "./resources";
export { shrinkSchedule } from "./shrink";
export { type Violation } from "./violation";

/** Runs all checks on the files of a run. */
export async function checkRun(historyFile: string): Promise<Violation[]> {
  const history = await collectHistory(readHistory(historyFile));
  const operations = mergeByKey(history.operations);
  const facts = readFacts(historyFile);
  const { journals, wallets, settlements, reads, webhooks } = facts;
  const ownOf = (code: string) => operations.filter(({ organisation }) => organisation === code);
  return [
    ...checkKeys(history.operations),
    ...findUnknownOutcomes(operations),
    ...findUnexpectedErrors(operations),
    ...checkMoney(operations, journals, wallets),
    ...checkUnfinished(facts.unfinished),
    ...Object.entries(reads).flatMap(([code, own]) => checkAcknowledged(ownOf(code), own)),
    ...checkChain({
      ...{ journals, settlements, chain: chainOf(facts.chain) },
      addresses: new Map(wallets.map(({ walletId, address }) => [walletId, address])),
    }),
    ...journals.flatMap((journal) => {
      const { organisation } = journal;
      return checkEvents({
        ...{ journal, reads: reads[organisation]!, operations: ownOf(organisation) },
        settlements: settlements.filter((one) => one.organisation === organisation),
      });
    }),
    ...webhooks.flatMap((webhook) =>
      checkDeliveries(webhook, reads[webhook.organisation]!.events, history.deliveries),
    ),
    ...checkTenants(facts, history.operations),
    ...checkResources(facts.observed),
    ...checkObserved(facts.observed),
  ];
}

/** Checks the files of a run. Returns the violations, and their text with parts of the history. */
export async function describeRun(historyFile: string): Promise<{ violations: Violation[]; text: string }> {
  const violations = await checkRun(historyFile);
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
