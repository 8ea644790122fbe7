import { readText, writePrivateJson } from "./privateFile";

/** Description of a running stack, for demo, e2e, bench, dashboards and scripts. */
export interface Stack {
  gatewayUrl: string;
  docsUrl: string;
  consoleUrl: string;
  /** The address at which `make observe` starts Prometheus. */
  prometheusUrl: string;
  organisations: DemoOrganisation[];
  services: Record<string, ServiceEntry>;
  postgres: { host: string; port: number; urls: Record<string, string> };
  /** Files with the certificate of operators' commands. Absent without mutual TLS. */
  cli?: { cert: string; key: string; ca: string };
  bus: { kind: "kafka"; brokers: string } | { kind: "feed" };
  chain: { rpcUrl: string; chainId: number; tokenAddress: string; paymentManagerAddress: string };
}

export interface DemoOrganisation {
  name: string;
  orgCode: string;
  apiKey: string;
  secretKey: string;
}

export interface ServiceEntry {
  /** host:port; the gateway and the console have none. */
  grpc?: string;
  /** host:port of /livez, /readyz and /metrics. */
  ops: string;
  pid: number | null;
}

export function readStackFile(file: string): Stack | undefined {
  const text = readText(file);
  return text === undefined ? undefined : (JSON.parse(text) as Stack);
}

export function writeStackFile(file: string, stack: Stack): void {
  writePrivateJson(file, stack);
}
