import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { listPayoutRows as findRows, type PayoutRowStatus } from "../store/payoutRows";
import { findPayout, listPayouts as findPayouts, type PayoutStatus } from "../store/payouts";
import { payoutMessage, payoutRowMessage } from "./payoutMessages";

/** The key of a row in a cursor. */
export const ROW_INDEX = /^(0|[1-9][0-9]{0,3})$/;

interface Deps {
  db: Database;
}

export async function getPayout(
  { db }: Deps,
  { orgId, payoutId }: { orgId: string; payoutId: string },
): Promise<message.Payout> {
  const payout = await findPayout(db, orgId, payoutId);
  if (!payout) throw new DomainError("PYO_001");
  return payoutMessage(payout);
}

export async function listPayouts(
  { db }: Deps,
  wanted: { orgId: string; status: PayoutStatus | undefined; page: Page },
): Promise<{ items: message.Payout[]; info: PageInfo }> {
  const found = await findPayouts(db, wanted);
  const { items, info } = cutPage(found, wanted.page, ({ payoutId }) => payoutId, null);
  return { items: items.map(payoutMessage), info };
}

export async function listPayoutRows(
  deps: Deps,
  wanted: { orgId: string; payoutId: string; status: PayoutRowStatus | undefined; page: Page },
): Promise<{ items: message.PayoutRow[]; info: PageInfo }> {
  await getPayout(deps, wanted);
  const found = await findRows(deps.db, wanted);
  const { items, info } = cutPage(found, wanted.page, ({ index }) => `${index}`, null);
  return { items: items.map(payoutRowMessage), info };
}
