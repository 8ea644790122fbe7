import { type PublicEvent } from "./api";
import { withDatabase, type Rows } from "./database";
import { type RunFacts, type Schema } from "./facts";
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

/** The digits of an id or UUID, and the digits of the organisation that has it. */
type Owners = Map<string, string>;

const ID = /(?<![0-9a-fA-F])[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}(?![0-9a-fA-F])/g;

/** No row, event or answer of one organisation names another one's id. */
export async function checkTenants(
  facts: RunFacts,
  operations: Operation[],
  events: ReadonlyMap<string, PublicEvent[]>,
): Promise<Violation[]> {
  const owners = await readOwners(facts);
  const codes = new Map(facts.organisations.map(({ id, code }) => [digitsOf(id), code]));
  const violations: Violation[] = [];
  for (const schema of SCHEMAS) violations.push(...(await checkRows(facts, schema, owners, codes)));
  for (const [code, listed] of events)
    for (const event of listed)
      violations.push(...findForeign(code, owners, codes, event, `event ${event.eventId}`, []));
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

async function readOwners(facts: RunFacts): Promise<Owners> {
  const owners: Owners = new Map();
  for (const [schema, table, column] of OWNERS)
    await withDatabase(facts, schema, async (rows) => {
      const found = await rows<{ id: string; org: string }>(
        `select ${column}::text as id, org_id::text as org from ${table}`,
      );
      for (const { id, org } of found) owners.set(digitsOf(id), digitsOf(org));
    });
  return owners;
}

/** Every table with the column org_id is read as text. Bytes are left out. */
async function checkRows(
  facts: RunFacts,
  schema: Schema,
  owners: Owners,
  codes: ReadonlyMap<string, string>,
): Promise<Violation[]> {
  return withDatabase(facts, schema, async (rows) => {
    const violations: Violation[] = [];
    for (const table of await tablesOf(rows))
      for (const { org, id } of await readNamedIds(rows, table)) {
        const owner = owners.get(digitsOf(id));
        if (owner === undefined || owner === digitsOf(org)) continue;
        const organisation = codes.get(digitsOf(org)) ?? org;
        const message = `a row of ${schema}.${table} names ${id}, which ${codes.get(owner) ?? owner} has`;
        violations.push({ check: "tenants", organisation, message, operations: [] });
      }
    return violations;
  });
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

async function readNamedIds(rows: Rows, table: string): Promise<{ org: string; id: string }[]> {
  return rows<{ org: string; id: string }>(
    `select distinct r.org_id::text as org, found[1] as id
     from ${table} r, regexp_matches(to_jsonb(r)::text,
       '(?:[^0-9a-f]|^)([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})(?![0-9a-f])', 'g') found
     where r.org_id is not null`,
  );
}

function findForeign(
  organisation: string,
  owners: Owners,
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
