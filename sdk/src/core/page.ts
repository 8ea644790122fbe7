import { ApiPromise, type WithResponse } from "./call.ts";

/** Selects a part of a list: a page by number, or the items after a cursor. */
export type PageQuery = {
  /** Items of a page, 1 to 100. Default: 20. */
  limit?: number | undefined;
} & (
  | {
      /** Number of the page, from 1. Not together with a cursor. */
      currentPage?: number | undefined;
      /** Absent when a page number is given. */
      cursor?: undefined;
    }
  | {
      /** `pagination.nextCursor` of the page before. */
      cursor?: string | undefined;
      /** Absent when a cursor is given. */
      currentPage?: undefined;
    }
);

/** Position of a page in its list. */
export interface Pagination {
  /** Maximum number of items of this page. */
  limit: number;
  /** Null when a cursor was given. */
  currentPage: number | null;
  /** True when more items follow. */
  hasNext: boolean;
  /** Give it as `cursor` to read the next page. Null on the last page. */
  nextCursor: string | null;
  /** Number of items in the list, or null beyond 10,000. */
  totalCount: number | null;
}

/** A page as the service sends it. */
export interface PageData<T> {
  /** In the order of the list. With filters a page can have few items, or none, before the last one. */
  items: T[];
  /** Position of the page. */
  pagination: Pagination;
}

/** A page of a list. Iterating over it yields its items and those of all later pages. */
export class Page<T> implements PageData<T>, AsyncIterable<T> {
  /** In the order of the list. With filters a page can have few items, or none, before the last one. */
  readonly items: T[];
  /** Position of the page. */
  readonly pagination: Pagination;
  readonly #next: (pagination: Pagination) => PagePromise<T>;

  constructor({ items, pagination }: PageData<T>, next: (pagination: Pagination) => PagePromise<T>) {
    this.items = items;
    this.pagination = pagination;
    this.#next = next;
  }

  /** True when more items follow. */
  hasNextPage(): boolean {
    return this.pagination.hasNext;
  }

  /** Reads the next page. Resolves with undefined after the last one. */
  async getNextPage(): Promise<Page<T> | undefined> {
    return this.hasNextPage() ? this.#next(this.pagination) : undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* this.items;
    for (let page = await this.getNextPage(); page !== undefined; page = await page.getNextPage()) {
      yield* page.items;
    }
  }
}

/** A promise of the first page. Iterating over it yields all items of the list. */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}

/** Reads the first page. `fetchPage` sends the request for a part of the list. */
export async function firstPage<T>(
  query: PageQuery,
  fetchPage: (query: PageQuery) => Promise<WithResponse<PageData<T>>>,
): Promise<WithResponse<Page<T>>> {
  const next = (pagination: Pagination) =>
    new PagePromise(firstPage(nextQuery(query, pagination), fetchPage));
  const response = await fetchPage(query);
  return { ...response, data: new Page(response.data, next) };
}

/** Prefers the cursor, which stays correct while items are added. */
function nextQuery({ limit }: PageQuery, { nextCursor, currentPage }: Pagination): PageQuery {
  const part = nextCursor === null ? { currentPage: (currentPage ?? 0) + 1 } : { cursor: nextCursor };
  return limit === undefined ? part : { limit, ...part };
}
