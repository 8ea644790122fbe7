import { type Proxy, type ProxyMode, startProxy } from "@wonrail/kit/testing";
import { type Parts } from "@wonrail/kit/testing/buildWorld";

export type Edge = "gateway-service" | "service-postgres" | "service-kafka" | "relayer-chain";

/** A way between two processes. Several proxies are on it when both replicas of a service are. */
export interface Link {
  edge: Edge;
  /** The two ends, such as `gateway to ledger`. */
  name: string;
  proxies: Proxy[];
  setMode(mode: ProxyMode): void;
}

export interface Links {
  all: Link[];
  /** Adds a proxy to the link, which is created when it is new. */
  add(edge: Edge, name: string, target: Place, listen?: Place): Promise<Proxy>;
  on(edge: Edge): Link[];
}

export interface Place {
  host: string;
  port: number;
}

export function createLinks(parts: Parts): Links {
  const all: Link[] = [];
  return {
    all,
    async add(edge, name, target, listen) {
      const proxy = await parts.use(startProxy({ target, ...(listen ? { listen } : {}) }));
      const link = all.find((one) => one.name === name) ?? createLink(edge, name);
      if (!all.includes(link)) all.push(link);
      link.proxies.push(proxy);
      return proxy;
    },
    on: (edge) => all.filter((link) => link.edge === edge),
  };
}

function createLink(edge: Edge, name: string): Link {
  const proxies: Proxy[] = [];
  return { edge, name, proxies, setMode: (mode) => proxies.forEach((proxy) => proxy.setMode(mode)) };
}

export function placeOf(address: string): Place {
  const { hostname: host, port } = new URL(`tcp://${address}`);
  return { host, port: Number(port) };
}
