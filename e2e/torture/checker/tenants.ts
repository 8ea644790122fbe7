import { withDatabase, type Rows } from "./database";
import { type Organisation, type Schema, type WorldAccess } from "./access";
import { type PublicReads } from "./api";
import { digitsOf } from "./journal/readJournal";
import { type Operation } from "./operations";
import { type Violation } from "./violation";

/** Columns that say which organisation has an id: of wallets, requests, keys, records and webhooks. */
const OWNERS: [schema: Schema, table: string, column: string][] = [
  ["auth", "organisations", "org_id"],
  ["auth", "api_keys", "key_id"],
  ["wallet", "wallets", "wallet_id"],
  ["ledger", "entries", "id"],
  ["chain-relayer", "records", "record_id"],
  ["events", "events", "event_id"],
  ["events", "webhooks", "webhook_id"],
  ["events", "deliveries", "delivery_id"],
];
const SCHEMAS: Schema[] = ["auth", "wallet", "ledger", "payment", "chain-relayer", "events"];

/** Ids in the rows of the databases. All ids and organisations are 32 hex digits. */
export interface NamedIds {
  /** The organisation that has an id. */
  owners: Record<string, string>;
  /** Ids that the rows of an organisation name. */
  rows: { table: string; organisation: string; ids: string[] }[];
}

const ID = /(?<![0-9a-fA-F])[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?![0-9a-fA-F])/g;

export async function readNamedIds(access: WorldAccess): Promise<NamedIds> {
  const named: NamedIds = { owners: {}, rows: [] };
  for (const [schema, table, column] of OWNERS) {
    const found = await withDatabase(access, schema, (rows) =>
      rows<{ id: string; org: string }>(`select ${column}::text as id, org_id::text as org from ${table}`),
    );
    for (const { id, org } of found) named.owners[digitsOf(id)] = digitsOf(org);
  }
  for (const schema of SCHEMAS)
    await withDatabase(access, schema, async (rows) => {
      for (const table of await tablesOf(rows))
        for (const { org, ids } of await readIdsOf(rows, table)) {
          const place = { table: `${schema}.${table}`, organisation: digitsOf(org) };
          named.rows.push({ ...place, ids: ids.map(digitsOf) });
        }
    });
  return named;
}

interface TenantFacts {
  organisations: Pick<Organisation, "id" | "code">[];
  namedIds: NamedIds;
  /** By the organisation's code. */
  reads: Record<string, PublicReads>;
}

/** No row, event or answer of one organisation names another one's id. */
export function checkTenants(
  { organisations, namedIds, reads }: TenantFacts,
  operations: Operation[],
): Violation[] {
  const owners = new Map(Object.entries(namedIds.owners));
  const codes = new Map(organisations.map(({ id, code }) => [digitsOf(id), code]));
  const violations = checkRows(namedIds, codes);
  for (const [code, { events, lists, objects }] of Object.entries(reads)) {
    for (const event of events)
      violations.push(...findForeign(code, owners, codes, event, `event ${event.eventId}`, []));
    for (const [path, answer] of [...Object.entries(lists), ...Object.entries(objects)])
      violations.push(...findForeign(code, owners, codes, answer, `GET ${path}`, []));
  }
  for (const operation of operations) {
    const { id, organisation, name, path, body, answers } = operation;
    // A caller may name a foreign id; the refusal repeats it.
    const named = new Set(idsIn(JSON.stringify([path, body])));
    for (const { data, error } of answers)
      violations.push(
        ...findForeign(organisation, owners, codes, [data, error], `an answer to ${name}`, [id], named),
      );
  }
  return violations;
}

function checkRows({ owners, rows }: NamedIds, codes: ReadonlyMap<string, string>): Violation[] {
  return rows.flatMap(({ table, organisation, ids }) =>
    ids
      .filter((id) => owners[id] !== undefined && owners[id] !== organisation)
      .map((id) => ({
        ...{ check: "tenants", organisation: codes.get(organisation) ?? organisation, operations: [] },
        message: `a row of ${table} names ${id}, which ${codes.get(owners[id]!) ?? owners[id]} has`,
      })),
  );
}

async function tablesOf(rows: Rows): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'org_id' and not a.attisdropped and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = current_schema()::regnamespace
     order by 1`,
  );
  return tables.map(({ name }) => name);
}

/** Every row is read as text. Bytes are left out. */
async function readIdsOf(rows: Rows, table: string): Promise<{ org: string; ids: string[] }[]> {
  return rows<{ org: string; ids: string[] }>(
    `select r.org_id::text as org, array_agg(distinct found[1]) as ids
     from ${table} r, regexp_matches(to_jsonb(r)::text,
       '(?:[^0-9a-f]|^)([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})(?![0-9a-f])', 'g') found
     where r.org_id is not null group by r.org_id`,
  );
}

function findForeign(
  organisation: string,
  owners: ReadonlyMap<string, string>,
  codes: ReadonlyMap<string, string>,
  value: unknown,
  place: string,
  operations: number[],
  named: ReadonlySet<string> = new Set(),
): Violation[] {
  return [...new Set(idsIn(JSON.stringify(value)))]
    .filter((id) => !named.has(id) && owners.has(id) && codes.get(owners.get(id)!) !== organisation)
    .map((id) => ({
      ...{ check: "tenants", organisation, operations },
      message: `${place} names ${id}, which ${codes.get(owners.get(id)!) ?? owners.get(id)} has`,
    }));
}

function idsIn(text: string): string[] {
  return [...text.matchAll(ID)].map(([id]) => id.replaceAll("-", ""));
}
