import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { toCharge, toPayment, toTransfer } from "../events";
import * as charges from "../store/charges";
import * as payments from "../store/payments";
import { findSettlements } from "../store/settlements";
import * as transfers from "../store/transfers";
import { pending, type Settlement } from "../domain/settlement";

export interface RecordDeps {
  db: Database;
  network: string;
}

export interface OneWanted {
  orgId: string;
  id: string;
}

export interface ListWanted {
  orgId: string;
  walletId: string | null;
  page: Page;
}

export interface Listed<M> {
  items: M[];
  info: PageInfo;
}

export async function getTransfer(deps: RecordDeps, { orgId, id }: OneWanted): Promise<message.Transfer> {
  const transfer = await transfers.findTransfer(deps.db, orgId, id);
  if (!transfer) throw new DomainError("TRF_005");
  return toTransfer(transfer, deps.network, (await settlementsOf(deps, orgId, [id]))(id));
}

export async function getCharge(deps: RecordDeps, { orgId, id }: OneWanted): Promise<message.Charge> {
  const charge = await charges.findCharge(deps.db, orgId, id);
  if (!charge) throw new DomainError("CHG_002");
  return toCharge(charge, deps.network, (await settlementsOf(deps, orgId, [id]))(id));
}

export async function getPayment(deps: RecordDeps, { orgId, id }: OneWanted): Promise<message.Payment> {
  const payment = await payments.findPayment(deps.db, orgId, id);
  if (!payment) throw new DomainError("PAY_004");
  return toPayment(payment, deps.network, (await settlementsOf(deps, orgId, [id]))(id));
}

export async function listTransfers(deps: RecordDeps, wanted: ListWanted): Promise<Listed<message.Transfer>> {
  const { orgId, walletId, page } = wanted;
  const { rows, total } = await transfers.listTransfers(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.transferId, total);
  const settlement = await settlementsOf(
    deps,
    orgId,
    items.map((row) => row.transferId),
  );
  return { items: items.map((row) => toTransfer(row, deps.network, settlement(row.transferId))), info };
}

export async function listCharges(deps: RecordDeps, wanted: ListWanted): Promise<Listed<message.Charge>> {
  const { orgId, walletId, page } = wanted;
  const { rows, total } = await charges.listCharges(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.chargeId, total);
  const settlement = await settlementsOf(
    deps,
    orgId,
    items.map((row) => row.chargeId),
  );
  return { items: items.map((row) => toCharge(row, deps.network, settlement(row.chargeId))), info };
}

export async function listPayments(deps: RecordDeps, wanted: ListWanted): Promise<Listed<message.Payment>> {
  const { orgId, walletId, page } = wanted;
  const { rows, total } = await payments.listPayments(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.paymentId, total);
  const settlement = await settlementsOf(
    deps,
    orgId,
    items.map((row) => row.paymentId),
  );
  return { items: items.map((row) => toPayment(row, deps.network, settlement(row.paymentId))), info };
}

async function settlementsOf(
  deps: RecordDeps,
  orgId: string,
  ids: string[],
): Promise<(id: string) => Settlement> {
  const known = await findSettlements(deps.db, orgId, ids);
  return (id) => known.get(id) ?? pending(deps.network);
}
