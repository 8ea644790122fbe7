import { requirePresent } from "@wonrail/kit/records";
import { enumValue } from "@wonrail/kit/grpc/client";
import { type ListFilter, SettlementStatus } from "@wonrail/proto/payment/v1/payment";
import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { DEFAULT_LIMIT } from "./schemas";

// How a list of a service becomes a page that partners read.

interface PageQuery {
  limit?: number | undefined;
  currentPage?: number | undefined;
  cursor?: string | undefined;
  order?: "asc" | "desc" | undefined;
}

export function toPageRequest({ limit = DEFAULT_LIMIT, currentPage, cursor, order }: PageQuery): PageRequest {
  const oldestFirst = order === "asc";
  return cursor === undefined
    ? { limit, position: { $case: "currentPage", value: currentPage ?? 1 }, oldestFirst }
    : { limit, position: { $case: "cursor", value: cursor }, oldestFirst };
}

interface MoneyQuery {
  reference?: string | undefined;
  settlementStatus?: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED" | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  minAmount?: string | undefined;
  maxAmount?: string | undefined;
}

export function listFilter({ settlementStatus, minAmount, maxAmount, ...same }: MoneyQuery): ListFilter {
  const { reference, from, to } = same;
  return {
    ...{ reference, from, to, minAmountWon: minAmount, maxAmountWon: maxAmount },
    settlementStatus: settlementStatus && enumValue(SettlementStatus, settlementStatus),
  };
}

export function toPagination(
  { limit = DEFAULT_LIMIT, currentPage, cursor }: PageQuery,
  info: PageInfo | undefined,
) {
  const { hasNext, nextCursor, totalCount } = requirePresent(info);
  return {
    limit,
    currentPage: cursor === undefined ? (currentPage ?? 1) : null,
    hasNext,
    nextCursor: nextCursor ?? null,
    totalCount: totalCount ?? null,
  };
}
