import { assert } from "@wonrail/kit/contract/errors";
import { enumName } from "@wonrail/kit/grpc/client";
import { parseWon, wonToJson } from "@wonrail/kit/contract/money";
import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { type Settlement, SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { DEFAULT_LIMIT } from "./schemas";

// Conversion of services' answers into public fields.

/** A field that services always send. Its absence is a programming error. */
export function known<T>(value: T | undefined): T {
  assert(value !== undefined, "the service's answer is complete");
  return value;
}

export function iso(moment: Date | undefined): string {
  return known(moment).toISOString();
}

export function wonOf(amountWon: string): number {
  return wonToJson(parseWon(amountWon, "amount_won"));
}

export function settlementOf(settlement: Settlement | undefined) {
  const { status, network, txHash, blockNumber } = known(settlement);
  return {
    status: known(enumName(SettlementStatus, status)),
    network,
    txHash: txHash ?? null,
    blockNumber: blockNumber === undefined ? null : Number(blockNumber),
  };
}

export function cancellationOf({
  cancelId,
  settlement,
}: {
  cancelId: string;
  settlement?: Settlement | undefined;
}) {
  return { cancelId, settlement: settlementOf(settlement) };
}

interface PageQuery {
  limit?: number | undefined;
  currentPage?: number | undefined;
  cursor?: string | undefined;
}

export function pageRequest({ limit = DEFAULT_LIMIT, currentPage, cursor }: PageQuery): PageRequest {
  return cursor === undefined
    ? { limit, position: { $case: "currentPage", value: currentPage ?? 1 } }
    : { limit, position: { $case: "cursor", value: cursor } };
}

export function paginationOf(
  { limit = DEFAULT_LIMIT, currentPage, cursor }: PageQuery,
  info: PageInfo | undefined,
) {
  const { hasNext, nextCursor, totalCount } = known(info);
  return {
    limit,
    currentPage: cursor === undefined ? (currentPage ?? 1) : null,
    hasNext,
    nextCursor: nextCursor ?? null,
    totalCount: totalCount ?? null,
  };
}
