import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { newId } from "@wonrail/kit/contract/ids";
import { type Tx } from "@wonrail/kit/db";
import { placeOf, type TransferEvent } from "../../evm";
import { type FinalRange, isMoving, type WalletAddress } from "../../indexer";
import { findMintingOperation, type EventOrigins } from "../../settlement";
import { bookingOf, type TransferKind, transferKindOf } from "../domain/deposits";
import { insertDeposits, type NewDeposit } from "../store/deposits";

/** Records transfers to our wallets that no operation ordered. Each log counts once. */
export async function recordDeposits(
  tx: Tx,
  { events, owners }: FinalRange,
  orders: EventOrigins,
): Promise<void> {
  await insertDeposits(
    tx,
    events.filter(isMoving).flatMap((event) => depositOf(event, owners, orders) ?? []),
  );
}

function depositOf(
  event: TransferEvent,
  owners: FinalRange["owners"],
  orders: EventOrigins,
): NewDeposit | null {
  const { from, to, units, log } = event;
  const payee = owners.get(to);
  if (!payee || from === to || kindOf(event, owners.get(from), orders) !== "deposit") return null;
  const { txHash, logIndex, blockNumber, blockHash } = log;
  const { orgId, walletId } = payee;
  const ledgerRef = newId("opn");
  const place = { txHash, logIndex, blockNumber, blockHash };
  return { ...place, orgId, walletId, fromAddress: from, units, ledgerRef, ...bookingOf(units) };
}

function kindOf(event: TransferEvent, payer: WalletAddress | undefined, orders: EventOrigins): TransferKind {
  const { outcome, operation } = findMintingOperation(event, orders);
  const known = operation ? "known" : "unknown";
  return transferKindOf({
    fromOurs: payer !== undefined,
    fromNobody: event.from === ZERO_ADDRESS,
    leg: orders.legs.get(placeOf(event))?.kind ?? null,
    operation: outcome ? known : null,
  });
}
