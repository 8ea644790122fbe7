import type { PortBook } from "./process/reservePort";
import { PREFERRED_PORTS, SERVICES } from "./services";
import type { Stack } from "./stackFile";

export interface StackPorts {
  gateway: number;
  gatewayOps: number;
  console: number;
  consoleOps: number;
  prometheus: number;
  postgres: number;
  kafka: number;
  kafkaController: number;
  anvil: number;
  grpc: Record<string, number>;
  ops: Record<string, number>;
}

/**
 * Prefers the previous ports, so that noted addresses stay valid; else the usual ones; else the
 * next free ones.
 */
export async function choosePorts(book: PortBook, previous: Stack | undefined): Promise<StackPorts> {
  const take = (preferred: number): Promise<number> => book.reserve(preferred);
  const gateway = await take(portOf(previous?.gatewayUrl) ?? PREFERRED_PORTS.gateway);
  const gatewayOps = await take(portOf(previous?.services.gateway?.ops) ?? PREFERRED_PORTS.gatewayOps);
  const console = await take(portOf(previous?.consoleUrl) ?? PREFERRED_PORTS.console);
  const consoleOps = await take(portOf(previous?.services.console?.ops) ?? PREFERRED_PORTS.consoleOps);
  const prometheus = await take(portOf(previous?.prometheusUrl) ?? PREFERRED_PORTS.prometheus);
  const postgres = await take(previous?.postgres.port ?? PREFERRED_PORTS.postgres);
  const kafka = await take(PREFERRED_PORTS.kafka);
  const kafkaController = await take(PREFERRED_PORTS.kafkaController);
  const anvil = await take(portOf(previous?.chain.rpcUrl) ?? PREFERRED_PORTS.anvil);
  const [grpc, ops]: [Record<string, number>, Record<string, number>] = [{}, {}];
  for (const { name, preferred } of SERVICES) {
    grpc[name] = await take(portOf(previous?.services[name]?.grpc) ?? preferred.grpc);
    ops[name] = await take(portOf(previous?.services[name]?.ops) ?? preferred.ops);
  }
  const edges = { gateway, gatewayOps, console, consoleOps, prometheus };
  return { ...edges, postgres, kafka, kafkaController, anvil, grpc, ops };
}

function portOf(address: string | undefined): number | undefined {
  const port = Number(/:(\d+)$/.exec(address ?? "")?.[1]);
  return Number.isInteger(port) && port > 0 ? port : undefined;
}
