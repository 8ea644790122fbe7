import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type ChangedMetadata, pending, recordsNow, type Settled } from "@wonrail/kit/records";
import { findChangedMetadata } from "../store/changedMetadata";
import { findSettlements } from "../store/settlements";

export interface ReadDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "getEntries">;
  network: string;
}

export interface RecordKey {
  orgId: string;
  id: string;
}

interface Sources<R> {
  /** Picks the record from the ledger's answer. */
  pick: (records: ReturnType<typeof recordsNow>) => R | undefined;
  /** Reads the record from the projection. */
  find: (db: Database, orgId: string, id: string) => Promise<R | undefined>;
}

/**
 * Reads one record from the ledger, so the record is never older than the answer to its command.
 * When the record's month was detached, reads the projection.
 */
export async function readRecord<R>(
  { db, ledger }: ReadDeps,
  { orgId, id }: RecordKey,
  { pick, find }: Sources<R>,
): Promise<R | undefined> {
  const { requests } = await ledger.getEntries({ orgId, requestIds: [id] }, { retry: true });
  const [request] = requests;
  return (request && pick(recordsNow(orgId, request))) ?? find(db, orgId, id);
}

/**
 * Returns what the ledger does not have of these ids: settlements, and metadata that was changed. An id
 * without an event of chain-relayer is PENDING.
 */
export async function readAdditions(
  { db, network }: Pick<ReadDeps, "db" | "network">,
  orgId: string,
  ids: string[],
): Promise<{ settled: Settled; changed: ChangedMetadata }> {
  const [settlements, metadata] = await Promise.all([
    findSettlements(db, orgId, ids),
    findChangedMetadata(db, orgId, ids),
  ]);
  return {
    settled: (id) => settlements.get(id) ?? pending(network),
    changed: (id) => metadata.get(id),
  };
}
