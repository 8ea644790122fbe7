import { clientNetwork } from "@wonrail/kit/clientNetwork";
import { type DomainError } from "@wonrail/kit/contract/errors";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { createBatchQueue } from "@wonrail/kit/batchQueue";
import { deleteOldKeys } from "@wonrail/kit/idempotency";
import { type Log } from "@wonrail/kit/log";
import { Counter, Gauge, type Registry, shared } from "@wonrail/kit/metrics";
import { type ServiceParts } from "@wonrail/kit/service";
import { advanceClock } from "./commands/advanceClock";
import { countFailures } from "./commands/countFailures";
import { createOrganisation } from "./commands/createOrganisation";
import { deleteOldFailures } from "./commands/deleteOldFailures";
import { deleteOldQuotaLeases } from "./commands/deleteOldQuotaLeases";
import { expireQuotaLeases } from "./commands/expireQuotaLeases";
import { expireKey } from "./commands/expireKey";
import { issueKey, issueKeyByKey } from "./commands/issueKey";
import { createKeyUses } from "./commands/keyUses";
import { leaseQuota } from "./commands/leaseQuota";
import { type LeaseRateInput, leaseRates, type RateLease } from "./commands/leaseRates";
import { refreshKey } from "./commands/refreshKey";
import { resolveKey } from "./commands/resolveKey";
import { revokeKey } from "./commands/revokeKey";
import { revokeKeyOf } from "./commands/revokeKeyOf";
import { rotateSecretKey, rotateSecretKeyByKey } from "./commands/rotateSecretKey";
import { setOrganisation } from "./commands/setOrganisation";
import { type Config } from "./config";
import { type CredentialDeps, type Deps } from "./commands/deps";
import { type FailedCredential } from "./domain/throttle";
import { findOrganisation } from "./queries/findOrganisation";
import { getKey, getKeyPage } from "./queries/getKey";
import { getOrganisationDetails } from "./queries/getUsage";
import { getSessions, type Session, type SessionInput } from "./queries/getSessions";
import { listAudit } from "./queries/listAudit";
import { listKeys } from "./queries/listKeys";
import { listOrganisations } from "./queries/listOrganisations";
import { search } from "./queries/search";
import { verifyAudit } from "./queries/verifyAudit";
import { verifyAuditAlways, type AuditReport } from "./queries/verifyAuditAlways";
import { openChangeFeed, type ChangeFeed } from "./queries/watchChanges";

export type Operations = ReturnType<typeof createOperations>;
export type App = Awaited<ReturnType<typeof createApp>>;

/** Table of contents: every command and query, bound to its dependencies. */
export function createOperations(deps: Deps, registry?: Registry) {
  const failures = createBatchQueue<FailedCredential, DomainError>({
    name: "count_failures",
    work: (failed) => countFailures(deps, failed),
    maxBatch: 500,
    maxQueue: 5_000,
    ownerOf: ({ clientAddress }) => clientNetwork(clientAddress),
    ...(registry && { registry }),
  });
  const uses = createKeyUses(deps.db);
  const credentialDeps: CredentialDeps = {
    ...deps,
    countFailure: (failure) => failures.submit(failure),
    addUse: (key, usedAt) => uses.add(key, usedAt),
  };
  return {
    createOrganisation: bind(deps, createOrganisation),
    setOrganisation: bind(deps, setOrganisation),
    rotateSecretKey: bind(deps, rotateSecretKey),
    rotateSecretKeyByKey: bind(deps, rotateSecretKeyByKey),
    issueKey: bind(deps, issueKey),
    issueKeyByKey: bind(deps, issueKeyByKey),
    refreshKey: bind(credentialDeps, refreshKey),
    resolveKey: bind(credentialDeps, resolveKey),
    revokeKey: bind(deps, revokeKey),
    revokeKeyOf: bind(deps, revokeKeyOf),
    advanceClock: bind(deps, advanceClock),
    expireKey: bind(deps, expireKey),
    leaseRates: bind(deps, leaseRates),
    leaseQuota: bind(deps, leaseQuota),
    expireQuotaLeases: bind(deps, expireQuotaLeases),
    deleteOldQuotaLeases: bind(deps, deleteOldQuotaLeases),
    deleteOldFailures: bind(deps, deleteOldFailures),
    writeKeyUses: () => uses.write(),
    deleteOldIdempotencyKeys: (signal: AbortSignal) => deleteOldKeys(deps.db, signal),

    getKey: bind(deps, getKey),
    getKeyPage: bind(deps, getKeyPage),
    getSessions: bind(deps, getSessions),
    findOrganisation: bind(deps, findOrganisation),
    getOrganisationDetails: bind(deps, getOrganisationDetails),
    search: bind(deps, search),
    listOrganisations: bind(deps, listOrganisations),
    listKeys: bind(deps, listKeys),
    listAudit: bind(deps, listAudit),
    verifyAudit: bind(deps, verifyAudit),
  };
}

/** Builds the operations, two batch queues and the feed of changes. */
export async function createApp(parts: ServiceParts<Config>) {
  const { config, db, log, registry } = parts;
  const operations = createOperations({ db, ...keyRules(config) }, registry);
  const rates = createBatchQueue<LeaseRateInput, RateLease>({
    name: "lease_rate",
    work: operations.leaseRates,
    maxBatch: 500,
    maxQueue: 5_000,
    registry,
  });
  // Session calls share one connection and take turns by organisation. Leases and look-ups use the others.
  const sessions = createBatchQueue<SessionInput, Session>({
    name: "get_session",
    work: operations.getSessions,
    maxBatch: 500,
    maxQueue: 2_000,
    ownerOf: ({ orgId }) => orgId,
    registry,
  });
  const changes = await openChangeFeed(db, log);
  measureWatchers(registry, changes);
  parts.onClose("rate queue", () => rates.close());
  parts.onClose("session queue", () => sessions.close());
  parts.onClose("change feed", () => changes.close());
  parts.onClose("key uses", () => operations.writeKeyUses());
  return {
    ...operations,
    hasSandbox: hasSandbox(config.NETWORK) && config.KEY_MODE === "test",
    leaseRate: (input: LeaseRateInput) => rates.submit(input),
    getSession: (input: SessionInput) => sessions.submit(input),
    watchChanges: (signal: AbortSignal) => changes.watch(signal),
    endWatches: () => changes.endWatches(),
    countRefusal: refusalCounter(registry),
    checkAudit: auditCheck(verifyAuditAlways({ db }), log, registry),
  };
}

function keyRules(config: Pick<Config, "KEY_MODE" | "KEY_LIFETIME_HOURS" | "KEY_OVERLAP_MS">) {
  return {
    keyMode: config.KEY_MODE,
    keyLifetimeMs: config.KEY_LIFETIME_HOURS * 3_600_000,
    keyOverlapMs: config.KEY_OVERLAP_MS,
  };
}

function refusalCounter(registry: Registry): (code: string) => void {
  const refusals = new Counter({
    name: "auth_key_refusals_total",
    help: "Refused API keys, by error code",
    labelNames: ["code"],
    registers: [registry],
  });
  return (code) => refusals.inc({ code });
}

/** Counts the open streams. A gateway without one hears of a revocation late. */
function measureWatchers(registry: Registry, changes: ChangeFeed): void {
  new Gauge({
    name: "auth_watchers",
    help: "Open streams of changes",
    registers: [registry],
    collect() {
      this.set(changes.watchers);
    },
  });
}

/** Reports tampering with the audit trail as a violated invariant. */
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

function bind<D extends Deps, A extends unknown[], R>(
  deps: D,
  operation: (deps: D, ...args: A) => R,
): (...args: A) => R {
  return (...args) => operation(deps, ...args);
}
