import { table } from "@wonrail/kit/command";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { SERVICES, withAdmin, withAuth, withRelayer, type World } from "./clients";

/** A change that a restore reverts, and that operators must repeat. */
interface Change {
  at: Date;
  service: string;
  actor: string;
  action: string;
  subject: string;
  details: string;
}

/** Changes and pauses that a restore to an earlier time takes back. */
export interface Reverted {
  /** Oldest first. */
  changes: Change[];
  /** Queues that are paused now, with the reason. */
  pausedQueues: { orgId: string; pausedReason: string }[];
  /** The last one is in use. */
  paymentManagers: string[];
}

const PAGE = 1_000;

/**
 * Lists the changes since a time: operators' actions in all services, and changes of organisations
 * and keys. Entries, wallets and webhooks are not listed.
 */
export async function listReverted(world: World, since: Date): Promise<Reverted> {
  const changes = await listKeyChanges(world, since);
  for (const service of SERVICES) changes.push(...(await listActions(world, service, since)));
  changes.sort((one, other) => one.at.getTime() - other.at.getTime());
  return withRelayer(world, async (relayer, operator) => {
    const { addresses } = await relayer.listPaymentManagers({ operator });
    const { queues } = await relayer.listQueues({
      ...{ operator, afterOrgId: undefined, limit: PAGE, pausedOnly: true },
    });
    const pausedQueues = queues.map(({ orgId, pausedReason = "" }) => ({ orgId, pausedReason }));
    return { changes, pausedQueues, paymentManagers: addresses };
  });
}

export function describeReverted({ changes, pausedQueues, paymentManagers }: Reverted): string[] {
  return [
    "Changes that the restore reverts, oldest first:",
    ...table(changes),
    "",
    "Paused queues:",
    ...table(pausedQueues),
    "",
    "Payment managers, the last one in use:",
    ...table(paymentManagers.map((address) => ({ address }))),
  ];
}

function listActions(world: World, service: (typeof SERVICES)[number], since: Date): Promise<Change[]> {
  return withAdmin(world, service, (client, operator) =>
    newestSince(
      since,
      async (beforeSequence) =>
        (await client.listOperatorActions({ operator, beforeSequence, limit: PAGE })).actions,
      ({ occurredAt, operator: name, method, subject, detailsJson }) => ({
        ...{ at: occurredAt!, service, actor: name, action: method, subject, details: detailsJson },
      }),
    ),
  );
}

/** The trails of all organisations in auth, which also have the partners' own changes of keys. */
function listKeyChanges(world: World, since: Date): Promise<Change[]> {
  return withAuth(world, async (auth, operator) => {
    const changes: Change[] = [];
    for await (const code of listCodes(auth, operator)) {
      const ofOrganisation = await newestSince(
        since,
        async (beforeSequence) =>
          (await auth.listAuditEntries({ operator, code, beforeSequence, limit: PAGE })).entries,
        ({ occurredAt, actor, action, subject, detailsJson }) => ({
          ...{ at: occurredAt!, service: "auth", actor, action, subject: `${code} ${subject}` },
          details: detailsJson,
        }),
      );
      changes.push(...ofOrganisation);
    }
    return changes;
  });
}

async function* listCodes(
  auth: PromiseClient<typeof AuthAdminServiceService>,
  operator: Operator,
): AsyncGenerator<string> {
  for (let afterCode = "", more = true; more;) {
    const { organisations } = await auth.listOrganisations({ operator, afterCode, limit: PAGE });
    for (const { organisation } of organisations) yield organisation!.code;
    afterCode = organisations.at(-1)?.organisation?.code ?? "";
    more = organisations.length === PAGE;
  }
}

/** Reads a trail backwards, page by page, to the time. */
async function newestSince<T extends { sequence: bigint; occurredAt?: Date | undefined }, R>(
  since: Date,
  readPage: (beforeSequence: bigint | undefined) => Promise<T[]>,
  toRow: (entry: T) => R,
): Promise<R[]> {
  const rows: R[] = [];
  for (let before: bigint | undefined; ;) {
    const page = await readPage(before);
    const recent = page.filter(({ occurredAt }) => occurredAt! >= since);
    rows.push(...recent.map(toRow));
    if (recent.length < PAGE) return rows;
    before = page.at(-1)!.sequence;
  }
}
