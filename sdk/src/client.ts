import { ApiPromise, type CallOptions } from "./core/call.ts";
import type { Logger, LogLevel } from "./core/logger.ts";
import { type ExplorerLinks, explorerLinks, type Network, type NetworkOverrides } from "./core/network.ts";
import { readConfig } from "./internal/config.ts";
import { createTransport, type Transport } from "./internal/transport.ts";
import { AuthApi } from "./resources/auth.ts";
import { ChargesApi } from "./resources/charges.ts";
import { PaymentsApi } from "./resources/payments.ts";
import { TransactionsApi } from "./resources/transactions.ts";
import { TransfersApi } from "./resources/transfers.ts";
import { WalletsApi } from "./resources/wallets.ts";

export interface ClientOptions {
  /** Such as https://api.example.com; else WONRAIL_BASE_URL. */
  baseUrl?: string | undefined;
  /** Else WONRAIL_API_KEY. */
  apiKey?: string | undefined;
  /** When given it must be the code of the key's organisation; else WONRAIL_ORG_CODE. */
  orgCode?: string | undefined;
  /** For each attempt; 30000 unless given. */
  timeoutMs?: number | undefined;
  /** After the first attempt; 2 unless given. */
  maxRetries?: number | undefined;
  /** Sent with every request. None that the library sets itself: Idempotency-Key, X-API-Key, X-Org-Code, Content-Type. */
  headers?: Record<string, string> | undefined;
  fetch?: typeof fetch | undefined;
  /** console unless given. It gets no bodies, no headers and no credentials. */
  logger?: Logger | undefined;
  /** Else WONRAIL_LOG, else `info` for a logger that is given and `off` without one. */
  logLevel?: LogLevel | undefined;
  /** What the service's network is and where, as far as it is not the preset. What is recorded is on it unless it says another. */
  network?: NetworkOverrides | undefined;
  /** In a browser everybody can read the API key; the client refuses to work there unless this is true. */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** The service and its gateway. */
export class ServiceClient {
  readonly baseUrl: string;
  readonly orgCode: string | undefined;
  /** The service's network: chain id, RPC URL, contracts. */
  readonly network: Network;
  /** Links to that network's explorer. */
  readonly explorer: ExplorerLinks;
  readonly auth: AuthApi;
  readonly wallets: WalletsApi;
  readonly transfers: TransfersApi;
  readonly charges: ChargesApi;
  readonly payments: PaymentsApi;
  readonly transactions: TransactionsApi;
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    const config = readConfig(options);
    const transport = createTransport(config);
    this.#transport = transport;
    this.baseUrl = config.baseUrl;
    this.orgCode = config.orgCode;
    this.network = config.network;
    this.explorer = explorerLinks(config.network);
    this.auth = new AuthApi(transport);
    this.wallets = new WalletsApi(transport);
    this.transfers = new TransfersApi(transport);
    this.charges = new ChargesApi(transport);
    this.payments = new PaymentsApi(transport);
    this.transactions = new TransactionsApi(transport, config.network.type);
  }

  /** Whether the gateway answers. Needs no key. */
  checkHealth(options?: CallOptions): ApiPromise<Health> {
    const request = { method: "GET", path: "/healthz", repeat: "safe", isOpen: true, options } as const;
    return new ApiPromise(this.#transport.send<Health>(request));
  }
}

export interface Health {
  status: "ok";
}
