import { coalesce, createClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { type ExecuteRequest, PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { type TlsIdentity } from "@wonrail/kit/tls";
import { type Config } from "./config";

type Addresses = Pick<Config, "AUTH_ADDRESS" | "WALLET_ADDRESS" | "PAYMENT_ADDRESS" | "RELAYER_ADDRESS">;

/** Items of one call. A full call must stay below the kit's request limit at any item size. */
export const MAX_BATCH = 500;

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
    defaultTimeoutMs: 8_000,
  });
  const relayer = createClient(RelayerServiceService, {
    ...shared,
    name: "chain-relayer",
    address: addresses.RELAYER_ADDRESS,
    defaultTimeoutMs: 5_000,
  });
  // Payment commands that queue during a call travel together in the next one.
  const executePayment = coalesce({
    name: "payment.execute",
    bulk: async (items: ExecuteRequest[], options) => (await payment.executeBulk({ items }, options)).items,
    unary: payment.execute,
    toItem: (request, context) => ({ ...request, context }),
    fromAnswer: (answer) => ({ value: answer }),
    defaultTimeoutMs: 8_000,
    maxBatch: MAX_BATCH,
    maxQueue: 5_000,
    registry,
  });
  return {
    auth,
    wallet,
    payment,
    executePayment,
    relayer,
    async close() {
      await executePayment.close();
      for (const client of [auth, wallet, payment, relayer]) client.close();
    },
  };
}
