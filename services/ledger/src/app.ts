import { type ActingOperator } from "@wonrail/kit/admin";
import { type Database, openDatabase, tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { type SandboxClock } from "@wonrail/kit/contract/sandboxClock";
import { requestFields } from "@wonrail/kit/log";
import { advanceClock } from "@wonrail/kit/sandboxClocks";
import { type ServiceParts } from "@wonrail/kit/service";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { createClosedAccountsGauge } from "./metrics/closedAccountsGauge";
import { createChargeBudget } from "./commands/chargeBudget";
import { createEngine } from "./commands/engine";
import { freezeWallet, unfreezeWallet, type WantedFreeze } from "./commands/freezeWallet";
import { maintainPartitions, openJournalWindow } from "./commands/maintainPartitions";
import { readRequest } from "./commands/readRequest";
import { type Reentered, reenterLostEntries } from "./commands/reenterLostEntries";
import { verifyAccounts } from "./commands/verifyAccounts";
import { verifyJournal } from "./commands/verifyJournal";
import { createFrozenWalletsGauge } from "./metrics/frozenWalletsGauge";
import { createViolationsGauge } from "./metrics/violationsGauge";
import { type Config } from "./config";
import type { Answer } from "./intents/decide";
import { getBalanceAt } from "./queries/getBalanceAt";
import { getBalances } from "./queries/getBalances";
import { findByKey } from "./queries/findByKey";
import { getEntries } from "./queries/getEntries";
import { listJournal } from "./queries/listJournal";
import { listLines, type LinesQuery } from "./queries/listLines";
import { listStatement, type StatementQuery } from "./queries/listStatement";
import { type PeriodQuery, readStatement } from "./queries/readStatement";
import { listAccounts, sumAccounts } from "./store/accounts";
import { countFrozenByOperator, type FrozenFilter, listFrozenWallets } from "./store/frozenWallets";
import { listHeads } from "./store/journalHeads";
import { type JournalWindow } from "./store/partitions";
import { countTraffic } from "./commands/countTraffic";
import { pruneKeys } from "./commands/pruneKeys";
import { getAccount, listHolds } from "./queries/getAccount";
import { getBalanceHistory } from "./queries/getBalanceHistory";
import { getEntryDetails } from "./queries/getEntryDetails";
import { getOrganisationBooks } from "./queries/getOrganisationBooks";
import { getOverview } from "./queries/getOverview";
import { search } from "./queries/search";

/** For statements that read all accounts. */
const SCAN_TIMEOUT_MS = 60_000;

export type App = Awaited<ReturnType<typeof createApp>>;

export async function createApp({ config, db, log, registry, onClose, readOwnTopic }: AppParts) {
  const { BATCH_QUEUES: queues, MAX_BATCH: maxBatch, MAX_QUEUE: maxQueue } = config;
  const limitWon = won(BigInt(config.MAX_CHARGED_PER_DAY_WON));
  const chargeBudget = createChargeBudget({ db, log, limitWon, now: Date.now });
  const sandbox = hasSandbox(config.NETWORK);
  const limits = { queues, maxBatch, maxQueue };
  const engine = createEngine({ db, log, registry, ...limits, chargeBudget, hasSandbox: sandbox });
  onClose("engine", () => engine.close());
  const window = await openJournalWindow(db);
  const gauge = createViolationsGauge({ log, registry });
  const closedGauge = createClosedAccountsGauge({ log, registry });
  const frozenGauge = createFrozenWalletsGauge({ registry });
  const freezing = {
    db,
    engine,
    read: (message: PostRequest) => readRequest(message, window.current(), "ledger"),
  };
  const scans = openDatabase({
    url: config.DATABASE_URL,
    schema: db.schema,
    applicationName: "ledger verify",
    // Each of the two jobs holds one connection for its turn and reads on another.
    max: 4,
    statementTimeoutMs: SCAN_TIMEOUT_MS,
    log,
  });
  onClose("scans", () => scans.close());

  return {
    /** Null on a main network. */
    sandbox: sandbox ? { setClock: (clock: SandboxClock) => tx(db, (tx) => advanceClock(tx, clock)) } : null,

    /** Resolves after the commit. */
    async post(message: PostRequest, deadlineMs: number, caller: string | null): Promise<Answer> {
      const request = readRequest(message, window.current(), caller);
      const { requestId = "", traceparent = "" } = message.context ?? {};
      if (log.isLevelEnabled("debug"))
        log.debug({ ...requestFields({ requestId, traceparent }), ledgerRef: request.requestId }, "item");
      return engine.post({ request, origin: { requestId, traceparent }, deadlineMs });
    },

    /** Resolves after the commit. */
    async postTogether(messages: PostRequest[], isDryRun: boolean, caller: string | null): Promise<Answer[]> {
      const requests = messages.map((message) => readRequest(message, window.current(), caller));
      const { requestId = "", traceparent = "" } = messages[0]?.context ?? {};
      return engine.postTogether({ requests, origin: { requestId, traceparent }, isDryRun });
    },

    freezeWallet: (wanted: WantedFreeze, operator: ActingOperator) =>
      freezeWallet(freezing, wanted, operator),
    unfreezeWallet: (wanted: WantedFreeze, operator: ActingOperator) =>
      unfreezeWallet(freezing, wanted, operator),
    listFrozenWallets: (filter: FrozenFilter) => listFrozenWallets(db, filter),
    reenterLostEntries: bindReentry({ db, log, hasSandbox: sandbox, readOwnTopic }, window),
    countFrozenWallets: async () => frozenGauge.found(await countFrozenByOperator(db)),

    getBalances: (orgId: string, accountIds: string[]) => getBalances(db, orgId, accountIds),
    listAccounts: (orgId: string, after: string | null, limit: number) =>
      listAccounts(db, orgId, after, limit),
    listStatement: (query: StatementQuery) => listStatement(db, query),
    readStatement: (query: PeriodQuery) => readStatement(db, query),
    listLines: (query: LinesQuery) => listLines(db, query),
    getBalanceAt: (wanted: Parameters<typeof getBalanceAt>[1]) => getBalanceAt(db, wanted),
    getEntries: (orgId: string, requestIds: string[]) => getEntries(db, orgId, requestIds),
    findByKey: (orgId: string, key: { scope: string; key: string }) => findByKey(db, orgId, key),
    listJournal: (orgId: string, afterSequence: bigint, limit: number) =>
      listJournal(db, orgId, afterSequence, limit),
    listJournalHeads: (afterOrgId: string | null, limit: number) => listHeads(db, afterOrgId, limit),
    getTotals: (orgId: string) => sumAccounts(db, orgId),

    ...operatorViews(db),

    countTraffic: () => countTraffic({ db }),
    maintainPartitions: () => maintainPartitions({ db, log, window }),
    pruneKeys: (signal: AbortSignal) => pruneKeys({ db, log }, signal),
    verifyJournal: (signal: AbortSignal) => verifyJournal({ db: scans, gauge }, signal),
    verifyAccounts: (signal: AbortSignal) => verifyAccounts({ db: scans, gauge, closedGauge }, signal),
  };
}

/** Answers null without Kafka, which alone keeps lost entries. */
function bindReentry(
  { readOwnTopic, ...deps }: Pick<AppParts, "db" | "log" | "readOwnTopic"> & { hasSandbox: boolean },
  window: { current(): JournalWindow },
) {
  // The first caller's name is lost. The ledger has admitted the request before.
  const read = (message: PostRequest) => readRequest(message, window.current(), null);
  return async (operator: ActingOperator): Promise<Reentered | null> =>
    readOwnTopic === undefined ? null : reenterLostEntries({ ...deps, read, readOwnTopic }, operator);
}

function operatorViews(db: Database) {
  return {
    getAccount: (accountId: string) => getAccount(db, accountId),
    listHolds: (wanted: Parameters<typeof listHolds>[1]) => listHolds(db, wanted),
    getBalanceHistory: (wanted: Parameters<typeof getBalanceHistory>[1]) => getBalanceHistory(db, wanted),
    getEntryDetails: (wanted: Parameters<typeof getEntryDetails>[1]) => getEntryDetails(db, wanted),
    getOrganisationBooks: (wanted: Parameters<typeof getOrganisationBooks>[1]) =>
      getOrganisationBooks(db, wanted),
    getOverview: () => getOverview(db),
    search: (text: string) => search(db, text),
  };
}

export type AppParts = Pick<
  ServiceParts<Config>,
  "config" | "db" | "log" | "registry" | "onClose" | "readOwnTopic"
>;
