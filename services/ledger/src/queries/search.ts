import type { Queryable } from "@wonrail/kit/db";
import { isId } from "@wonrail/kit/contract/ids";
import type { SearchHit } from "@wonrail/proto/common/v1/admin";
import { findAccountById } from "../store/accounts";
import {
  findRequestsById,
  findRequestsByReference,
  findRequestsOfCall,
  type FoundRequest,
} from "../store/searches";

const MOST_HITS = 20;
const MAX_REFERENCE_LENGTH = 100;
const ID = /^[a-z]{3}_[0-9a-f]{32}$/;

/** Finds wallets by id, and requests by id, by reference, or by the call that asked for them. */
export async function search(db: Queryable, text: string): Promise<SearchHit[]> {
  if (text === "" || text.length > MAX_REFERENCE_LENGTH) return [];
  const hits = await findRequestsByReference(db, text, MOST_HITS);
  if (ID.test(text)) hits.push(...(await findRequestsById(db, text, MOST_HITS)));
  if (isId("req", text)) hits.push(...(await findRequestsOfCall(db, text, MOST_HITS)));
  const unique = new Map(hits.map((hit) => [`${hit.orgId} ${hit.requestId}`, hit]));
  return [...(await findWallet(db, text)), ...[...unique.values()].map(hitOf)].slice(0, MOST_HITS);
}

async function findWallet(db: Queryable, text: string): Promise<SearchHit[]> {
  const account = isId("wal", text) ? await findAccountById(db, text) : undefined;
  if (account?.id !== text) return [];
  const { id, orgId, type, userId } = account;
  return [{ kind: "wallet", id, orgId, title: `${type} wallet of ${userId}` }];
}

function hitOf({ orgId, requestId, kind, code, decidedAt }: FoundRequest): SearchHit {
  const outcome = code === null ? "posted" : `refused with ${code}`;
  return { kind: "entry", id: requestId, orgId, title: `${kind}, ${outcome} at ${decidedAt.toISOString()}` };
}
