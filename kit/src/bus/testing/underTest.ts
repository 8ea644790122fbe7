import { connect } from "node:net";
import type { Registry } from "../../metrics";
import { testLog, type Proxy } from "../../testing";
import { openKafkaBus } from "../kafka";
import type { Dial } from "../kafka/dial";
import type { Bus } from "../port";
import { openPostgresBus } from "../postgres";

/** Where a bus is; plain data, so that a process of its own can be told. */
export type BusPlace = { kind: "kafka"; brokers: string[] } | { kind: "postgres"; url: string };

/** A member that was killed loses its partitions after this. For Kafka it is the least that a broker allows. */
export const LEASE_MS = { kafka: 6_000, postgres: 4_000 };
/** Over a network that cannot fail, a request only takes long on a machine that is busy: to send it again would be a repetition. */
const REQUEST_TIMEOUT_MS = { faulty: 2_000, sound: 15_000 };

export interface UnderTestOptions {
  proxy?: Proxy;
  registry?: Registry;
}

/** Opens the bus as a service does, but quicker to notice that something is wrong, and if asked over a network that can fail. */
export function openUnderTest(place: BusPlace, { proxy, registry }: UnderTestOptions = {}): Bus {
  const requestTimeoutMs = REQUEST_TIMEOUT_MS[proxy ? "faulty" : "sound"];
  const common = { clientId: "test", log: testLog(), ...(registry && { registry }) };
  if (place.kind === "postgres") {
    const url = new URL(place.url);
    if (proxy) url.host = `${proxy.host}:${proxy.port}`;
    const tuning = { leaseMs: LEASE_MS.postgres, statementTimeoutMs: requestTimeoutMs };
    return openPostgresBus({ ...common, kind: "postgres", url: url.toString() }, tuning);
  }
  const tuning = { sessionTimeoutMs: LEASE_MS.kafka, requestTimeoutMs };
  const options = { ...common, kind: "kafka" as const, brokers: place.brokers };
  return openKafkaBus(options, proxy ? { ...tuning, dial: dialThrough(proxy) } : tuning);
}

/** A broker tells its clients where it is, so the detour has to be made where the connection is opened. */
function dialThrough({ host, port }: Proxy): Dial {
  return ({ onConnect }) => connect({ host, port }, onConnect).setNoDelay(true);
}

/** Where a proxy in front of the bus leads. */
export function networkTarget(place: BusPlace): { host: string; port: number } {
  const address = place.kind === "kafka" ? place.brokers[0]! : new URL(place.url).host;
  const [host, port] = address.split(":");
  return { host: host!, port: Number(port) };
}
