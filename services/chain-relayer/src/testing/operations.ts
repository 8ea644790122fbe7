import { type Database, sql, tx } from "@wonrail/kit/db";
import { hexOf, newId } from "@wonrail/kit/contract/ids";
import { type Signer } from "../evm/signer";
import { type Fees } from "../sender/domain/fees";
import { type Step } from "../settlement/domain/steps";
import { insertOperations, markInFlight, type NewOperation } from "../settlement/store/operations";
import { listPlannedOperations } from "../settlement/store/plannedOperations";
import { moveHeads } from "../settlement/store/settlementQueues";
import { acquireLease, setNextNonce, storeSigned } from "../sender/store/transactions";
import { saveWalletAddresses } from "../indexer/store/walletAddresses";
import { planOperations } from "../settlement/commands/planOperations";
import { PAYMENT_MANAGER } from "./chainDouble";

const ORG = newId("org");

/** The journal of all organisations. */
let posted = 0n;

/** A payment out of the wallet, the newest entry of the journal. */
export function operationOf(walletId: string = newId("wal"), of: Partial<NewOperation> = {}): NewOperation {
  const ledgerRef = newId("pay");
  const step = {
    kind: "TRANSFER",
    fromWalletId: walletId,
    toWalletId: newId("wal"),
    toAddress: null,
  } as const;
  return {
    ...{ orgId: ORG, ledgerRef, relatedId: ledgerRef, kind: "INTENT_KIND_PAYMENT" },
    operationId: ledgerRef.slice(4).repeat(2),
    steps: [{ ...step, amountWon: 1n as Step["amountWon"], nonce: ledgerRef.slice(4).repeat(2) }],
    ...{ orgSequence: (posted += 1n), blockedReason: null, createdAt: new Date() },
    wallets: [walletId],
    ...of,
  };
}

/** Charges of one KRW each, of one wallet with an address. */
export async function mints(db: Database, count: number): Promise<NewOperation[]> {
  const toWalletId = newId("wal");
  const operations = Array.from({ length: count }, () => {
    const made = operationOf();
    const minted = { kind: "MINT", fromWalletId: null, toWalletId } as const;
    return { ...made, steps: made.steps.map((step) => ({ ...step, ...minted })) };
  });
  const address = `0x${hexOf(toWalletId).repeat(2).slice(0, 40)}`;
  await saveWalletAddresses(db, [{ walletId: toWalletId, orgId: ORG, address }]);
  return operations;
}

/** A hold of a new wallet. */
export function holdOf(of: Partial<NewOperation> = {}): NewOperation {
  return operationOf(newId("wal"), { kind: "INTENT_KIND_PLACE_HOLD", ...of });
}

/** Inserts a hold that was refused for its own cause until its clock ran out. */
export async function ingestExpiredHold(
  db: Database,
  hold: NewOperation,
  { expiresAt = new Date(Date.now() - 1_000), reason = "AccountBlocked" } = {},
): Promise<void> {
  await ingestOperations(db, [hold]);
  await db.run(sql`
    update operations set state = 'PLANNED', turn = nextval('operation_turns'), attempts = 1,
      wait_reason = ${reason}, expires_at = ${expiresAt}
    where ledger_ref = ${hold.ledgerRef}`);
}

export async function ingestOperations(db: Database, operations: NewOperation[]): Promise<void> {
  await tx(db, async (tx) => {
    const orgIds = [...new Set(operations.map(({ orgId }) => orgId))];
    await moveHeads(
      tx,
      orgIds.map((orgId) => ({ orgId, sequence: 0n })),
    );
    insertOperations(tx, operations);
  });
}

/**
 * Plans and signs waiting operations as one transaction, like the writer; returns its hash. No node
 * has the bytes yet.
 */
export async function signWaitingOperations(
  db: Database,
  signer: Signer,
  {
    nonce,
    fees = { maxFeeWei: 10_000n, priorityFeeWei: 1n },
    gasLimit = 100_000n,
  }: { nonce: bigint; fees?: Fees; gasLimit?: bigint },
): Promise<string> {
  const lease = (await acquireLease(db, signer.address, "this process", 60_000))!;
  await planOperations(db, lease);
  const planned = await listPlannedOperations(db, 1_000);
  const call = { to: PAYMENT_MANAGER, gasLimit };
  const data = Buffer.from("00", "hex");
  const signed = signer.sign({ chainId: 31_337n, nonce, ...call, data, ...fees });
  await tx(db, async (tx) => {
    await setNextNonce(tx, signer.address, nonce + 1n);
    const transactionId = await storeSigned(tx, {
      ...{ ...call, callData: data, signer: signer.address, nonce, epoch: lease.epoch },
      version: { ...signed, ...fees },
    });
    await markInFlight(tx, planned, transactionId, signed.txHash);
  });
  return signed.txHash;
}

export async function statesOf(db: Database, operations: NewOperation[]): Promise<string[]> {
  const rows = await db.query<{ ledger_ref: string; state: string; wait_reason: string | null }>(
    sql`select ledger_ref, state, wait_reason from operations`,
  );
  const said = new Map(
    rows.map((row) => [row.ledger_ref, [row.state, row.wait_reason ?? []].flat().join(" ")]),
  );
  return operations.map(({ ledgerRef }) => said.get(ledgerRef)!);
}

export async function transactionStates(db: Database): Promise<string[]> {
  const rows = await db.query<{ state: string }>(sql`select state from transactions order by transaction_id`);
  return rows.map(({ state }) => state);
}

/** Moves all signing and sending times back. */
export async function age(db: Database, interval: string): Promise<void> {
  await db.run(sql`update transactions set sent_at = sent_at - ${interval}::interval`);
  await db.run(sql`update transaction_versions set created_at = created_at - ${interval}::interval`);
}
