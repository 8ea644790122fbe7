import { ApiPromise, type CallOptions, type IdempotentCallOptions } from "../core/call.ts";
import { firstPage, type PageData, PagePromise, type PageQuery } from "../core/page.ts";
import type { ApiRequest, Transport } from "./transport.ts";

/** Where and what to send. Made inside the call, so that what its checks refuse rejects the promise. */
type Path = () => string;
type PathAndBody = () => { path: string; body?: object };
type PathAndQuery = () => { path: string; query: PageQuery & Filters };
type Filters = Readonly<Record<string, string | number | undefined>>;

/** The shapes of call that resources are made of. */
export class ApiResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected read<T>(path: Path, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "GET", path: path(), repeat: "safe", options }));
  }

  protected pages<T>(list: PathAndQuery, options?: CallOptions): PagePromise<T> {
    const first = async () => {
      const { path, query } = list();
      const { limit: _limit, currentPage: _currentPage, cursor: _cursor, ...filters } = query;
      return firstPage<T>(query, ({ limit, currentPage, cursor }) => {
        const asked = { path, query: { ...filters, limit, currentPage, cursor } };
        return this.#transport.send<PageData<T>>({ method: "GET", ...asked, repeat: "safe", options });
      });
    };
    return new PagePromise(first());
  }

  /** A POST with an idempotency key, which makes it safe to repeat. */
  protected move<T>(request: PathAndBody, options?: IdempotentCallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "POST", ...request(), repeat: "keyed", options }));
  }

  /** A POST that the service would do a second time. */
  protected post<T>(request: PathAndBody, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "POST", ...request(), repeat: "once", options }));
  }

  /** Says how it shall be: saying it twice changes nothing. */
  protected patch<T>(request: PathAndBody, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "PATCH", ...request(), repeat: "safe", options }));
  }

  protected call<T>(request: () => ApiRequest): ApiPromise<T> {
    return new ApiPromise((async () => this.#transport.send<T>(request()))());
  }
}
