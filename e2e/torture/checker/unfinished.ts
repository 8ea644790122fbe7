import { withDatabase } from "./database";
import { type Schema, type WorldAccess } from "./access";
import { type Operation } from "./operations";
import { type Violation } from "./violation";

/** Rows of work that must end by itself. The statement gives the organisation's id, or null, and a name. */
const UNFINISHED: [schema: Schema, what: string, statement: string][] = [
  [
    "wallet",
    "is not opened or not closed",
    `select org_id, wallet_id as name from wallets where status in ('OPENING', 'DEACTIVATING')`,
  ],
  [
    "ledger",
    "is a hold without an end",
    `select 'org_' || replace(org_id::text, '-', '') as org_id, id::text as name from holds where state = 'open'`,
  ],
  [
    "payment",
    "is a transfer without an end",
    `select org_id, transfer_id as name from transfers where status = 'PENDING'`,
  ],
  [
    "chain-relayer",
    "is not settled",
    `select org_id, ledger_ref as name from operations where state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED')`,
  ],
  [
    "chain-relayer",
    "is a deposit without credit",
    `select org_id, ledger_ref as name from deposits where state = 'SEEN'`,
  ],
  [
    "chain-relayer",
    "is a scheduled record without an end",
    `select org_id, record_id as name from records where run in ('STARTED', 'SENT')`,
  ],
  ["events", "is a settlement without an entry", `select org_id, ledger_ref as name from early_settlements`],
  ...(["auth", "wallet", "ledger", "chain-relayer"] as const).flatMap(
    (schema) =>
      [
        [
          schema,
          "is an unpublished event",
          `select o.org_id, o.event_id::text as name from outbox_pending p join outbox o using (id)`,
        ],
      ] as [Schema, string, string][],
  ),
  ...(["wallet", "payment", "chain-relayer", "events"] as const).map(
    (schema) =>
      [
        schema,
        "is a dead letter",
        `select null as org_id, event_type || ' ' || error as name from dead_letters where replayed_at is null and dropped_at is null`,
      ] as [Schema, string, string],
  ),
];

/** A row of work that has not ended. */
export interface Unfinished {
  /** The organisation's code, or `all`. */
  organisation: string;
  message: string;
}

export async function readUnfinished(access: WorldAccess): Promise<Unfinished[]> {
  const codes = new Map(access.organisations.map(({ id, code }) => [id, code]));
  const found = await Promise.all(
    UNFINISHED.map(async ([schema, what, statement]) => {
      const rows = await withDatabase(access, schema, (query) =>
        query<{ org_id: string | null; name: string }>(statement),
      );
      return rows.map(({ org_id: orgId, name }) => ({
        organisation: codes.get(orgId ?? "") ?? orgId ?? "all",
        message: `${schema}: ${name} ${what}`,
      }));
    }),
  );
  return found.flat();
}

/** Work of the services that has not ended. The run waits for the end of all work. */
export function checkUnfinished(unfinished: Unfinished[]): Violation[] {
  return unfinished.map((one) => ({ check: "unfinished", ...one, operations: [] }));
}

/** After the end every request that changes something has an outcome. */
export function findUnknownOutcomes(operations: Operation[]): Violation[] {
  return operations
    .filter(({ method, outcome }) => method !== "GET" && outcome === undefined)
    .map(({ id, organisation, name, key }) => {
      const message = `${name}${key === undefined ? "" : ` with the key ${key}`} has no outcome`;
      return { check: "unfinished", organisation, message, operations: [id] };
    });
}
