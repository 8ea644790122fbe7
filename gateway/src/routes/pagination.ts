import { requirePresent } from "@wonrail/kit/records";
import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { DEFAULT_LIMIT } from "./schemas";

// How a list of a service becomes a page that partners read.

interface PageQuery {
  limit?: number | undefined;
  currentPage?: number | undefined;
  cursor?: string | undefined;
}

export function toPageRequest({ limit = DEFAULT_LIMIT, currentPage, cursor }: PageQuery): PageRequest {
  return cursor === undefined
    ? { limit, position: { $case: "currentPage", value: currentPage ?? 1 } }
    : { limit, position: { $case: "cursor", value: cursor } };
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
