import { sql, type Queryable, type Sql } from "@wonrail/kit/db";
import { idToUuid, isId, uuidToId } from "@wonrail/kit/contract/ids";

/** An organisation that a search found. */
export interface FoundOrganisation {
  orgId: string;
  code: string;
  name: string;
}

/** Organisations with this id, or with a code or name that begins with the text. */
export async function findOrganisations(
  db: Queryable,
  text: string,
  limit: number,
): Promise<FoundOrganisation[]> {
  const those = isId("org", text)
    ? [sql`org_id = ${idToUuid(text)}`]
    : [beginsWith(sql`code`, text.toUpperCase()), beginsWith(sql`lower(name)`, text.toLowerCase())];
  const walks = those.map(
    (condition) => sql`(select org_id, code, name from organisations where ${condition} limit ${limit})`,
  );
  const rows = await db.query<{ org_id: string; code: string; name: string }>(
    sql`select * from (${sql.join(walks, sql` union `)}) as found order by code limit ${limit}`,
  );
  return rows.map(({ org_id, ...row }) => ({ orgId: uuidToId("org", org_id), ...row }));
}

/** In the order of text_pattern_ops, so that an index serves a text that is not known beforehand. */
function beginsWith(column: Sql, text: string): Sql {
  return sql`${column} ~>=~ ${text} and ${column} ~<~ ${`${text}\u{10ffff}`}`;
}

/** An API key that a search found. */
export interface FoundKey {
  orgId: string;
  keyId: string;
  prefix: string;
  name: string;
}

/** The key with this id or prefix. */
export async function findKeys(db: Queryable, text: string): Promise<FoundKey[]> {
  const condition = isId("key", text) ? sql`key_id = ${idToUuid(text)}` : sql`prefix = ${text}`;
  const rows = await db.query<{ org_id: string; key_id: string; prefix: string; name: string }>(
    sql`select org_id, key_id, prefix, name from api_keys where ${condition}`,
  );
  return rows.map(({ org_id, key_id, ...row }) => ({
    orgId: uuidToId("org", org_id),
    keyId: uuidToId("key", key_id),
    ...row,
  }));
}
