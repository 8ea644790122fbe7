import { type Database } from "@wonrail/kit/db";
import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/relayer/v1/relayer";
import { findSettlements, type StoredSettlement } from "../store/settlements";

export interface Settlement extends StoredSettlement {
  network: string;
}

export interface SettlementQuery {
  orgId: string;
  /** Ids after this one; empty: from the start. */
  afterRef: string;
  limit: number;
}

/** Lists how far the chain is with an organisation's entries, holds and deposits, in id order. */
export async function listSettlements(
  { db, chain: { network } }: { db: Database; chain: { network: string } },
  { orgId, afterRef, limit }: SettlementQuery,
): Promise<Settlement[]> {
  const found = await findSettlements(db, orgId, afterRef, limit);
  return found.map((one) => ({ ...one, network }));
}

export function settlementMessage(of: Settlement): message.Settlement {
  const { ledgerRef, version, changedAt, network } = of;
  return {
    ...{ ledgerRef, version, changedAt, network },
    status: enumValue(message.SettlementStatus, of.status),
    txHash: of.txHash ?? undefined,
    blockNumber: of.blockNumber ?? undefined,
    fromAddress: of.fromAddress ?? undefined,
    failure: of.failure ?? undefined,
  };
}
