import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Page } from "@wonrail/kit/page";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { recordsNow } from "@wonrail/kit/records";
import { pending } from "@wonrail/kit/records";
import { type Settled } from "@wonrail/kit/records";
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

export interface ListWanted {
  orgId: string;
  walletId: string | null;
  page: Page;
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

/** Returns the settlements of these ids. An id without an event of chain-relayer is PENDING. */
export async function readSettlements(
  { db, network }: Pick<ReadDeps, "db" | "network">,
  orgId: string,
  ids: string[],
): Promise<Settled> {
  const settlements = await findSettlements(db, orgId, ids);
  return (id) => settlements.get(id) ?? pending(network);
}
