import { ApiPromise, type CallOptions } from "./core/call.ts";
import type { ClientOptions } from "./core/clientOptions.ts";
import { type ExplorerLinks, explorerLinks, type Network } from "./core/network.ts";
import { readConfig } from "./internal/config.ts";
import { createTransport, type Transport } from "./internal/transport.ts";
import { AuthApi } from "./resources/auth.ts";
import { ChargesApi } from "./resources/charges.ts";
import { EventsApi } from "./resources/events.ts";
import { KeysApi } from "./resources/keys.ts";
import { PaymentsApi } from "./resources/payments.ts";
import { PayoutsApi } from "./resources/payouts.ts";
import { ReportsApi } from "./resources/reports.ts";
import { SandboxApi } from "./resources/sandbox.ts";
import { TransactionsApi } from "./resources/transactions.ts";
import { TransfersApi } from "./resources/transfers.ts";
import { WebhooksApi } from "./resources/webhooks.ts";
import { WalletsApi } from "./resources/wallets.ts";

/** A client of the Wonrail API. Create one per API key and share it. */
export class ServiceClient {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  /** The organisation code that requests carry, if one was given. */
  readonly orgCode: string | undefined;
  /** The service's network: chain id, RPC URL, contracts. */
  readonly network: Network;
  /** Links to the explorer of that network. */
  readonly explorer: ExplorerLinks;
  /** The organisation's API key and session. */
  readonly auth: AuthApi;
  /** Users' wallets and their statements. */
  readonly wallets: WalletsApi;
  /** Transfers from a wallet to an address. */
  readonly transfers: TransfersApi;
  /** Many transfers of one wallet, as one request. */
  readonly payouts: PayoutsApi;
  /** Top-ups, their cancellation, and refunds. */
  readonly charges: ChargesApi;
  /** Payments from a payer's wallets to a receiver. */
  readonly payments: PaymentsApi;
  /** Statements and settlements of a period. */
  readonly reports: ReportsApi;
  /** Records of on-chain transactions. */
  readonly transactions: TransactionsApi;
  /** Events of the organisation, in one order. */
  readonly events: EventsApi;
  /** Endpoints that get events pushed. */
  readonly webhooks: WebhooksApi;
  /** API keys of the organisation. */
  readonly keys: KeysApi;
  /** Rehearsals on a test network. */
  readonly sandbox: SandboxApi;
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
    this.payouts = new PayoutsApi(transport);
    this.charges = new ChargesApi(transport);
    this.payments = new PaymentsApi(transport);
    this.reports = new ReportsApi(transport);
    this.transactions = new TransactionsApi(transport, config.network.type);
    this.events = new EventsApi(transport);
    this.webhooks = new WebhooksApi(transport);
    this.keys = new KeysApi(transport);
    this.sandbox = new SandboxApi(transport);
  }

  /** Resolves when the gateway answers. Sends no API key. */
  checkHealth(options?: CallOptions): ApiPromise<Health> {
    const request = { method: "GET", path: "/healthz", repeat: "safe", isOpen: true, options } as const;
    return new ApiPromise(this.#transport.send<Health>(request));
  }
}

/** Answer of the health check. */
export interface Health {
  /** Always `ok`: a gateway that is not ready answers with an error. */
  status: "ok";
}
