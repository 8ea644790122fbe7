// Starts a service of the report benchmark in a process of its own, with its real app and server.
// SERVICE is its name. SETTINGS is its configuration as JSON.
import { createApp as createGateway } from "@wonrail/gateway/app";
import { createClients } from "@wonrail/gateway/clients";
import { startHttpServer } from "@wonrail/gateway/middleware/httpServer";
import { openDatabase } from "@wonrail/kit/db";
import { type GrpcService, startGrpcServer } from "@wonrail/kit/grpc/server";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { createApp as createLedger } from "@wonrail/ledger/app";
import { rpc as ledgerRpc } from "@wonrail/ledger/rpc";
import { createApp as createPayment } from "@wonrail/payment/app";
import { rpc as paymentRpc } from "@wonrail/payment/rpc";
import { createApp as createWallet } from "@wonrail/wallet/app";
import { rpc as walletRpc } from "@wonrail/wallet/rpc";

export type ServiceName = "ledger" | "payment" | "wallet" | "gateway";

const name = process.env.SERVICE as ServiceName;
const settings = JSON.parse(process.env.SETTINGS!) as Record<string, never>;
const log = createLog({ service: name, level: "error" });
const registry = createRegistry({ service: name, version: "0", commit: "0" });
const host = "127.0.0.1";

async function main(): Promise<void> {
  process.on("message", () => process.send!({ peakBytes: process.resourceUsage().maxRSS * 1024 }));
  process.send!({ port: name === "gateway" ? await serveGateway() : await serveRpc(name) });
}

async function serveRpc(service: Exclude<ServiceName, "gateway">): Promise<number> {
  const services = await rpcOf(service);
  return (await startGrpcServer({ host, port: 0, log, registry, services })).port;
}

async function rpcOf(service: Exclude<ServiceName, "gateway">): Promise<GrpcService[]> {
  const db = openDatabase({ url: settings.DATABASE_URL!, schema: service, applicationName: "bench", log });
  const parts = { config: settings as never, db, log, registry, onClose: () => undefined };
  switch (service) {
    case "ledger":
      return ledgerRpc(await createLedger(parts));
    case "payment":
      return paymentRpc(createPayment(parts), log);
    case "wallet":
      return walletRpc(createWallet(parts));
  }
}

async function serveGateway(): Promise<number> {
  const config = settings as never;
  const clients = createClients(config, { log, registry });
  const app = createGateway({ config, clients, log, registry });
  const limits = { maxConnections: 100, maxRequestsPerSocket: 0, headersTimeoutMs: 10_000 };
  const timeouts = { requestTimeoutMs: 30_000, keepAliveTimeoutMs: 75_000, idleTimeoutMs: 40_000 };
  return (await startHttpServer(app.handler, { host, port: 0, log, registry, ...limits, ...timeouts })).port;
}

void main();
