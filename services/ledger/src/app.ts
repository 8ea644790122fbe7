import { openDatabase } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { requestFields } from "@wonrail/kit/log";
import { type ServiceParts } from "@wonrail/kit/service";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { createClosedAccountsGauge } from "./metrics/closedAccountsGauge";
import { createEngine } from "./commands/engine";
import { keepPartitions, watchWindow } from "./commands/keepPartitions";
import { createPostedLate } from "./store/postedLate";
import { readRequest } from "./commands/readRequest";
import { verifyAccounts } from "./commands/verifyAccounts";
import { verifyAlways } from "./commands/verifyAlways";
import { createViolationsGauge } from "./metrics/violationsGauge";
import { type Config } from "./config";
import type { Outcome } from "./domain/types";
import { getBalances } from "./queries/getBalances";
import { findRequest } from "./queries/findRequest";
import { getEntries } from "./queries/getEntries";
import { listStatement, type StatementQuery } from "./queries/listStatement";
import { listAccounts, sumAccounts } from "./store/accounts";

/** Some 1,500 bytes each. They are published within milliseconds, where this process is the one that publishes. */
/** Some 300 bytes each, for as long as they cannot be verified. */
const MAX_LATE = 50_000;
/** For what reads all accounts. */
const SCAN_TIMEOUT_MS = 60_000;

export type App = Awaited<ReturnType<typeof createApp>>;

/** Table of contents: every command and query, bound to what it needs. */
export async function createApp({ config, db, log, registry, onClose }: AppParts) {
  const { MAX_BATCH: maxBatch, MAX_QUEUE: maxQueue } = config;
  const late = createPostedLate(MAX_LATE);
  const engine = createEngine({ db, log, registry, maxBatch, maxQueue, late });
  onClose("engine", () => engine.close());
  const window = await watchWindow(db);
  const gauge = createViolationsGauge({ log, registry });
  const closedGauge = createClosedAccountsGauge({ log, registry });
  const scans = openDatabase({
    url: config.DATABASE_URL,
    schema: db.schema,
    applicationName: "ledger verify",
    max: 1,
    statementTimeoutMs: SCAN_TIMEOUT_MS,
    log,
  });
  onClose("scans", () => scans.close());

  return {
    /** Resolves after the commit, with what was posted or why it was refused. */
    async post(message: PostRequest, deadlineMs: number): Promise<Outcome> {
      const request = readRequest(message, window.current());
      const { requestId = "", traceparent = "" } = message.context ?? {};
      if (log.isLevelEnabled("debug"))
        log.debug({ ...requestFields({ requestId, traceparent }), ledgerRef: request.requestId }, "item");
      return engine.post({ request, origin: { requestId, traceparent }, deadlineMs });
    },

    getBalances: (orgId: string, accountIds: string[]) => getBalances(db, orgId, accountIds),
    listAccounts: (orgId: string, after: string | null, limit: number) =>
      listAccounts(db, orgId, after, limit),
    listStatement: (query: StatementQuery) => listStatement(db, query),
    getEntries: (orgId: string, requestIds: string[]) => getEntries(db, orgId, requestIds),
    findRequest: (orgId: string, requestId: string) => findRequest(db, orgId, requestId),
    getTotals: (orgId: string) => sumAccounts(db, orgId),
    async getEntry(orgId: string, id: string) {
      const [found] = await getEntries(db, orgId, [id]);
      if (!found) throw new DomainError("TX_001", null);
      return found;
    },

    keepPartitions: () => keepPartitions({ db, log, window }),
    verify: verifyAlways({ db, gauge, late }),
    verifyAccounts: (signal: AbortSignal) => verifyAccounts({ db: scans, gauge, closedGauge }, signal),
  };
}

export type AppParts = Pick<ServiceParts<Config>, "config" | "db" | "log" | "registry" | "onClose">;
