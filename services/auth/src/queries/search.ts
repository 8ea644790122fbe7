import { type Queryable } from "@wonrail/kit/db";
import { type SearchHit } from "@wonrail/proto/common/v1/admin";
import { findKeys, findOrganisations } from "../store/searches";

const MOST_HITS = 20;
const MIN_LENGTH = 2;
const MAX_LENGTH = 100;

/** Finds organisations and keys of all organisations. */
export async function search({ db }: { db: Queryable }, text: string): Promise<SearchHit[]> {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return [];
  const keys = await findKeys(db, text);
  const organisations = await findOrganisations(db, text, MOST_HITS);
  const hits = [
    ...keys.map(({ keyId, orgId, prefix, name }) => ({
      ...{ kind: "api_key", id: keyId, orgId },
      title: `${prefix}, ${name}`,
    })),
    ...organisations.map(({ orgId, code, name }) => ({
      ...{ kind: "organisation", id: orgId, orgId },
      title: `${code}, ${name}`,
    })),
  ];
  return hits.slice(0, MOST_HITS);
}
