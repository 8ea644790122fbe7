import { ApiPromise, type WithResponse } from "./call.ts";

/** Which part of a list: a page by number, or what follows a cursor. */
export type PageQuery = { limit?: number | undefined } & (
  | { currentPage?: number | undefined; cursor?: undefined }
  | { cursor?: string | undefined; currentPage?: undefined }
);

export interface Pagination {
  limit: number;
  /** Null when a cursor was given. */
  currentPage: number | null;
  hasNext: boolean;
  nextCursor: string | null;
  /** Null beyond 10,000. */
  totalCount: number | null;
}

export interface PageData<T> {
  items: T[];
  pagination: Pagination;
}

/** One page of a list; iterate over it for its items and all that follow. */
export class Page<T> implements PageData<T>, AsyncIterable<T> {
  readonly items: T[];
  readonly pagination: Pagination;
  readonly #next: (pagination: Pagination) => PagePromise<T>;

  constructor({ items, pagination }: PageData<T>, next: (pagination: Pagination) => PagePromise<T>) {
    this.items = items;
    this.pagination = pagination;
    this.#next = next;
  }

  hasNextPage(): boolean {
    return this.pagination.hasNext;
  }

  /** The page after this one; undefined after the last. */
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

/** A promise of the first page, and an iterable over all items of the list. */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}

/** Makes pages of answers; `fetchPage` gets the part of the list that is wanted next. */
export async function firstPage<T>(
  query: PageQuery,
  fetchPage: (query: PageQuery) => Promise<WithResponse<PageData<T>>>,
): Promise<WithResponse<Page<T>>> {
  const next = (pagination: Pagination) =>
    new PagePromise(firstPage(nextQuery(query, pagination), fetchPage));
  const response = await fetchPage(query);
  return { ...response, data: new Page(response.data, next) };
}

/** By cursor wherever the service gave one: it stays right while items are added, and has no last page. */
function nextQuery({ limit }: PageQuery, { nextCursor, currentPage }: Pagination): PageQuery {
  const part = nextCursor === null ? { currentPage: (currentPage ?? 0) + 1 } : { cursor: nextCursor };
  return limit === undefined ? part : { limit, ...part };
}
