import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { testLog, type Proxy } from "../../testing";
import { openKafkaBus } from "../kafka";
import type { Dial } from "../kafka/dial";
import type { Bus, BusMessage, SubscribeOptions, Subscription } from "../port";

/** On a sound network a slow request means a busy machine, and a retry would repeat it. */
const REQUEST_TIMEOUT_MS = { faulty: 2_000, sound: 15_000 };
/** The least that a broker allows. */
const SESSION_TIMEOUT_MS = 6_000;

/** Kafka as a service opens it, with shorter timeouts, and optionally through a faulty network. */
export function openTestKafka(brokers: string[], proxy?: Proxy): Bus {
  const requestTimeoutMs = REQUEST_TIMEOUT_MS[proxy ? "faulty" : "sound"];
  const tuning = { sessionTimeoutMs: SESSION_TIMEOUT_MS, requestTimeoutMs };
  const options = { clientId: "test", brokers, replication: 1, log: testLog() };
  return openKafkaBus(options, proxy ? { ...tuning, dial: dialThrough(proxy) } : tuning);
}

/** A broker tells clients its address, so the proxy is inserted when a connection is opened. */
function dialThrough({ host, port }: Proxy): Dial {
  return ({ onConnect }) => connect({ host, port }, onConnect).setNoDelay(true);
}

export function addressOf(broker: string): { host: string; port: number } {
  const [host, port] = broker.split(":");
  return { host: host!, port: Number(port) };
}

export function newName(kind: string): string {
  return `${kind}.${randomBytes(6).toString("hex")}`;
}

export function textMessage(topic: string, text: string): BusMessage {
  return { topic, partition: 0, key: "k", value: Buffer.from(text), headers: {} };
}

/** Subscribes and keeps the texts of the messages. */
export async function collect(
  bus: Bus,
  request: Omit<SubscribeOptions, "handleBatch">,
): Promise<{ texts: string[]; subscription: Subscription }> {
  const texts: string[] = [];
  const subscription = await bus.subscribe({
    ...request,
    handleBatch: async (messages) => void texts.push(...messages.map(({ value }) => value.toString())),
  });
  return { texts, subscription };
}
