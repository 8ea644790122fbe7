import { type KeyMode } from "@wonrail/kit/contract/apiKey";
import { type Database } from "@wonrail/kit/db";
import { createLane } from "@wonrail/kit/lane";
import { type Log } from "@wonrail/kit/log";
import { Counter, Gauge, type Registry, shared } from "@wonrail/kit/metrics";
import { type ServiceParts } from "@wonrail/kit/service";
import { createOrganisation } from "./commands/createOrganisation";
import { deleteOldFailures } from "./commands/deleteOldFailures";
import { deleteOldQuotaLeases } from "./commands/deleteOldQuotaLeases";
import { expireQuotaLeases } from "./commands/expireQuotaLeases";
import { issueKey } from "./commands/issueKey";
import { leaseQuota } from "./commands/leaseQuota";
import { type LeaseRateInput, leaseRates, type RateLease } from "./commands/leaseRates";
import { refreshKey } from "./commands/refreshKey";
import { resolveKey } from "./commands/resolveKey";
import { revokeKey } from "./commands/revokeKey";
import { revokeKeyOf } from "./commands/revokeKeyOf";
import { rotateSecretKey } from "./commands/rotateSecretKey";
import { setOrganisation } from "./commands/setOrganisation";
import { type Config } from "./config";
import { findOrganisation } from "./queries/findOrganisation";
import { getSession } from "./queries/getSession";
import { listAudit } from "./queries/listAudit";
import { listKeys } from "./queries/listKeys";
import { listOrganisations } from "./queries/listOrganisations";
import { verifyAudit } from "./queries/verifyAudit";
import { verifyAuditAlways, type AuditReport } from "./queries/verifyAuditAlways";
import { openChangeFeed, type ChangeFeed } from "./queries/watchChanges";

/** What commands and queries work with. Time is the database's, so there is no clock among them. */
export interface Deps {
  db: Database;
  keyMode: KeyMode;
  keyLifetimeMs: number;
  keyOverlapMs: number;
}

export type Operations = ReturnType<typeof createOperations>;
export type App = Awaited<ReturnType<typeof createApp>>;

/** Table of contents: every command and query, bound to what it needs. */
export function createOperations(deps: Deps) {
  return {
    createOrganisation: bind(deps, createOrganisation),
    setOrganisation: bind(deps, setOrganisation),
    rotateSecretKey: bind(deps, rotateSecretKey),
    issueKey: bind(deps, issueKey),
    refreshKey: bind(deps, refreshKey),
    resolveKey: bind(deps, resolveKey),
    revokeKey: bind(deps, revokeKey),
    revokeKeyOf: bind(deps, revokeKeyOf),
    leaseRates: bind(deps, leaseRates),
    leaseQuota: bind(deps, leaseQuota),
    expireQuotaLeases: bind(deps, expireQuotaLeases),
    deleteOldQuotaLeases: bind(deps, deleteOldQuotaLeases),
    deleteOldFailures: bind(deps, deleteOldFailures),

    getSession: bind(deps, getSession),
    findOrganisation: bind(deps, findOrganisation),
    listOrganisations: bind(deps, listOrganisations),
    listKeys: bind(deps, listKeys),
    listAudit: bind(deps, listAudit),
    verifyAudit: bind(deps, verifyAudit),
  };
}

/** The operations, and what lives as long as the process: one lane for rate leases, one feed of changes. */
export async function createApp(parts: ServiceParts<Config>) {
  const { config, db, log, registry } = parts;
  const operations = createOperations({ db, ...keyRules(config) });
  const rates = createLane<LeaseRateInput, RateLease>({
    name: "lease_rate",
    work: operations.leaseRates,
    maxBatch: 500,
    maxQueue: 5_000,
    registry,
  });
  const changes = await openChangeFeed(db, log);
  measureWatchers(registry, changes);
  parts.onClose("rate lane", () => rates.close());
  parts.onClose("change feed", () => changes.close());
  return {
    ...operations,
    leaseRate: (input: LeaseRateInput) => rates.submit(input),
    watchChanges: (signal: AbortSignal) => changes.watch(signal),
    endWatches: () => changes.endWatches(),
    countRefusal: refusalCounter(registry),
    checkAudit: auditCheck(verifyAuditAlways({ db }), log, registry),
  };
}

export function keyRules(config: Pick<Config, "KEY_MODE" | "KEY_LIFETIME_HOURS" | "KEY_OVERLAP_MS">) {
  return {
    keyMode: config.KEY_MODE,
    keyLifetimeMs: config.KEY_LIFETIME_HOURS * 3_600_000,
    keyOverlapMs: config.KEY_OVERLAP_MS,
  };
}

function refusalCounter(registry: Registry): (code: string) => void {
  const refusals = new Counter({
    name: "auth_key_refusals_total",
    help: "API keys that were refused, by the code of the refusal",
    labelNames: ["code"],
    registers: [registry],
  });
  return (code) => refusals.inc({ code });
}

/** Gateways that would hear of a revocation at once. */
function measureWatchers(registry: Registry, changes: ChangeFeed): void {
  new Gauge({
    name: "auth_watchers",
    help: "Streams of changes that are open",
    registers: [registry],
    collect() {
      this.set(changes.watchers);
    },
  });
}

/** Tampering with the audit trail shows as a violated invariant: with what is new within a round, with the rest within a turn. */
function auditCheck(
  verify: (signal: AbortSignal) => Promise<AuditReport>,
  log: Log,
  registry: Registry,
): (signal: AbortSignal) => Promise<void> {
  const violations = shared(
    registry,
    "invariant_violations",
    (name) =>
      new Gauge({
        name,
        help: "Rows that break an invariant",
        labelNames: ["invariant"],
        registers: [registry],
      }),
  );
  return async (signal) => {
    const { problems } = await verify(signal);
    violations.set({ invariant: "audit_chain" }, problems.length);
    for (const { orgId, sequence, problem } of problems) {
      log.error(
        { auditOrgId: orgId, sequence: sequence.toString(), problem },
        "the audit trail was tampered with",
      );
    }
  };
}

function bind<A extends unknown[], R>(
  deps: Deps,
  operation: (deps: Deps, ...args: A) => R,
): (...args: A) => R {
  return (...args) => operation(deps, ...args);
}
