import { type Queryable } from "@wonrail/kit/db";
import { findOldestSequence } from "../store/events";
import { findLastSequence } from "../store/organisations";

/** The sequences of an organisation's kept events. `oldest` is behind `last` when none is kept. */
export interface KeptRange {
  oldest: bigint;
  last: bigint;
}

export async function findKeptRange(db: Queryable, orgId: string): Promise<KeptRange> {
  // The head comes first: all events up to it are committed.
  const last = await findLastSequence(db, orgId);
  return { last, oldest: (await findOldestSequence(db, orgId)) ?? last + 1n };
}
