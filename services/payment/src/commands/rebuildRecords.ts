import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { assert } from "@wonrail/kit/contract/errors";
import { failpoint } from "@wonrail/kit/failpoint";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import {
  type RelayerServiceService,
  type Settlement,
  SettlementStatus,
} from "@wonrail/proto/relayer/v1/relayer";
import { isOriginalDetached } from "@wonrail/kit/records";
import {
  confirmRows,
  findOpenRebuild,
  lockRebuild,
  markRows,
  type Rebuild,
  REBUILT_TABLES,
  saveRebuild,
  sweepRows,
  sweepSettlements,
} from "../store/rebuilds";
import { type SettlementChange } from "../store/settlements";
import { projectJournal } from "./projectJournal";
import { projectSettlements } from "./projectSettlements";

export interface RebuildDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "listJournal" | "listJournalHeads">;
  relayer: Pick<PromiseClient<RelayerServiceService>, "listSettlements">;
}

const ENTRIES_PER_STEP = 500;
const SETTLEMENTS_PER_STEP = 1_000;
const ROWS_PER_STEP = 10_000;

/**
 * Works on the open rebuild until it is finished, one short transaction per step. Lists show the old rows until the journal
 * has replaced them. Commands and the consumer of the journal go on meanwhile: every row keeps its newest version.
 */
export async function rebuildRecords(deps: RebuildDeps, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const rebuild = await findOpenRebuild(deps.db);
    if (!rebuild) return;
    await takeStep(deps, rebuild);
    await failpoint("payment.rebuilding");
  }
}

function takeStep(deps: RebuildDeps, rebuild: Rebuild): Promise<void> {
  switch (rebuild.phase) {
    case "NEXT":
      return findOrganisation(deps, rebuild);
    case "MARK":
      return mark(deps, rebuild);
    case "REPLAY":
      return replay(deps, rebuild);
    case "SWEEP":
      return sweep(deps, rebuild);
    case "SETTLE":
      return settle(deps, rebuild);
    case "SWEEP_SETTLED":
      return sweepSettled(deps, rebuild);
  }
}

async function findOrganisation({ db, ledger }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  const afterOrgId = rebuild.orgId === "" ? undefined : rebuild.orgId;
  const { heads } = await ledger.listJournalHeads({ afterOrgId, limit: 1 }, { retry: true });
  const [head] = heads;
  if (!head) return advance(db, rebuild, async () => ({ isFinished: true }));
  const oldestSequence = await readOldestSequence(ledger, head.orgId);
  return advance(db, rebuild, async () => ({
    ...{ phase: "MARK", orgId: head.orgId, tableIndex: 0, afterId: "" },
    ...{ oldestSequence, afterSequence: oldestSequence - 1n },
  }));
}

function mark({ db }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  return advance(db, rebuild, async (tx) => {
    const afterId = await markRows(tx, rebuild, ROWS_PER_STEP);
    if (afterId !== null) return { afterId };
    const tableIndex = rebuild.tableIndex + 1;
    return tableIndex < REBUILT_TABLES ? { tableIndex, afterId: "" } : { phase: "REPLAY" };
  });
}

async function replay({ db, ledger }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  const { orgId, afterSequence } = rebuild;
  const asked = { orgId, afterSequence, limit: ENTRIES_PER_STEP };
  const { entries } = await ledger.listJournal(asked, { retry: true });
  const last = entries.at(-1);
  if (!last) return advance(db, rebuild, async () => ({ phase: "SWEEP" }));
  return advance(db, rebuild, async (tx) => {
    const whole = entries.filter((entry) => !isOriginalDetached(entry));
    const partial = entries.filter(isOriginalDetached);
    await projectJournal(
      tx,
      whole.map((entry) => ({ orgId, entry })),
    );
    // These rows stem from a time when the ledger had the whole entry.
    if (partial.length > 0)
      await confirmRows(
        tx,
        orgId,
        partial.map(({ orgSequence }) => orgSequence),
      );
    return { afterSequence: last.orgSequence, entries: rebuild.entries + BigInt(entries.length) };
  });
}

async function sweep({ db, ledger }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  // A month may have been detached since the rows were marked. Its rows can no longer be confirmed.
  const oldestSequence = await readOldestSequence(ledger, rebuild.orgId);
  return advance(db, rebuild, async (tx) => {
    const deleted = await sweepRows(tx, { ...rebuild, oldestSequence }, ROWS_PER_STEP);
    return deleted > 0 ? {} : { phase: "SETTLE", afterId: "" };
  });
}

/** An event that arrives after the page was read has a newer version, so the page does not overwrite it. */
async function settle({ db, relayer }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  const { orgId, afterId } = rebuild;
  const afterLedgerRef = afterId === "" ? undefined : afterId;
  const asked = { orgId, afterLedgerRef, limit: SETTLEMENTS_PER_STEP };
  const { settlements } = await relayer.listSettlements(asked, { retry: true });
  const last = settlements.at(-1);
  if (!last) return advance(db, rebuild, async () => ({ phase: "SWEEP_SETTLED" }));
  await failpoint("payment.settlements_read");
  return advance(db, rebuild, async (tx) => {
    await projectSettlements(
      tx,
      settlements.map((settlement) => settlementChange(orgId, settlement)),
    );
    const read = rebuild.settlements + BigInt(settlements.length);
    return { afterId: last.ledgerRef, settlements: read };
  });
}

function settlementChange(orgId: string, of: Settlement): SettlementChange {
  const { ledgerRef, version, changedAt, network, failure, fromAddress } = of;
  const status = enumName(SettlementStatus, of.status);
  assert(status && changedAt, `chain-relayer lists ${ledgerRef} with a status and a time`);
  return {
    ...{ orgId, ledgerRef, version, changedAt, status, network },
    txHash: of.txHash ?? null,
    blockNumber: of.blockNumber ?? null,
    ...(fromAddress !== undefined && { counterparty: fromAddress }),
    ...(failure && {
      failure: {
        reason: failure.reason,
        proofBlockNumber: failure.blockNumber,
        proofBlockHash: failure.blockHash,
      },
    }),
  };
}

function sweepSettled({ db }: RebuildDeps, rebuild: Rebuild): Promise<void> {
  return advance(db, rebuild, async (tx) => {
    const deleted = await sweepSettlements(tx, rebuild.orgId, ROWS_PER_STEP);
    return deleted > 0 ? {} : { phase: "NEXT", organisations: rebuild.organisations + 1n };
  });
}

/** The oldest entry that the ledger keeps of the organisation. */
async function readOldestSequence(ledger: RebuildDeps["ledger"], orgId: string): Promise<bigint> {
  const { entries, lastSequence } = await ledger.listJournal(
    { orgId, afterSequence: 0n, limit: 1 },
    { retry: true },
  );
  return entries[0]?.orgSequence ?? lastSequence + 1n;
}

/** Commits the work and the next step together. Does nothing when another replica took the step. */
async function advance(
  db: Database,
  rebuild: Rebuild,
  work: (tx: Tx) => Promise<Partial<Rebuild>>,
): Promise<void> {
  await tx(db, async (tx) => {
    if (await lockRebuild(tx, rebuild)) await saveRebuild(tx, { ...rebuild, ...(await work(tx)) });
  });
}
