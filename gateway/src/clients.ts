import { coalesce, createClient } from "@wonrail/kit/grpc/client";
import { MAX_NOTES_BYTES } from "@wonrail/kit/contract/notes";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { type ExecuteRequest, PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { EventsServiceService } from "@wonrail/proto/events/v1/events";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { type TlsIdentity } from "@wonrail/kit/tls";
import { type Config } from "./config";
import { executeBytes } from "./executeBytes";

type Addresses = Pick<
  Config,
  "AUTH_ADDRESS" | "WALLET_ADDRESS" | "PAYMENT_ADDRESS" | "RELAYER_ADDRESS" | "EVENTS_ADDRESS"
>;

/** A page has 100 records, each with notes of its own and of its cancellation. */
const MAX_LIST_BYTES = 100 * (2 * MAX_NOTES_BYTES + 4_096);

/** Items of one call to payment. */
const MAX_BATCH = 500;

export type Clients = ReturnType<typeof createClients>;

/** Every request may wait for auth. A slower answer is useless. */
const AUTH_TIMEOUT_MS = 1_000;

interface ClientParts {
  log: Log;
  registry: Registry;
  tls?: TlsIdentity | undefined;
  authTimeoutMs?: number;
}

/** The services behind the gateway. A connection is made when the first call needs it. */
export function createClients(
  addresses: Addresses,
  { log, registry, tls, authTimeoutMs = AUTH_TIMEOUT_MS }: ClientParts,
) {
  const shared = { log, registry, tls };
  const auth = createClient(AuthServiceService, {
    ...shared,
    name: "auth",
    address: addresses.AUTH_ADDRESS,
    defaultTimeoutMs: authTimeoutMs,
  });
  const wallet = createClient(WalletServiceService, {
    ...shared,
    name: "wallet",
    address: addresses.WALLET_ADDRESS,
    defaultTimeoutMs: 5_000,
  });
  const payment = createClient(PaymentServiceService, {
    ...shared,
    name: "payment",
    address: addresses.PAYMENT_ADDRESS,
    maxReceiveBytes: MAX_LIST_BYTES,
    defaultTimeoutMs: 8_000,
  });
  const relayer = createClient(RelayerServiceService, {
    ...shared,
    name: "chain-relayer",
    address: addresses.RELAYER_ADDRESS,
    defaultTimeoutMs: 5_000,
  });
  const events = createClient(EventsServiceService, {
    ...shared,
    name: "events",
    address: addresses.EVENTS_ADDRESS,
    defaultTimeoutMs: 5_000,
  });
  // The hot edge: what queues while the last call is in flight travels as one.
  const executePayment = coalesce({
    name: "payment.execute",
    bulk: async (items: ExecuteRequest[], options) => (await payment.executeBulk({ items }, options)).items,
    unary: payment.execute,
    toItem: (request, context) => ({ ...request, context }),
    fromAnswer: (answer) => ({ value: answer }),
    defaultTimeoutMs: 8_000,
    maxBatch: MAX_BATCH,
    bytesOf: executeBytes,
    maxQueue: 5_000,
    registry,
  });
  return {
    auth,
    wallet,
    payment,
    executePayment,
    relayer,
    events,
    async close() {
      await executePayment.close();
      for (const client of [auth, wallet, payment, relayer, events]) client.close();
    },
  };
}
