import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "../../testing";
import type { Bus, ReceivedMessage, SubscribeOptions, Subscription } from "../port";
import type { ConsumerOrder } from "./consumerProcess";

export interface Collector {
  received: ReceivedMessage[];
  texts(): string[];
  subscription: Subscription;
}

/** Subscribes and keeps what was handled. A handler that rejects keeps nothing. */
export async function collect(
  bus: Bus,
  request: Omit<SubscribeOptions, "handleBatch"> & {
    handle?: (messages: ReceivedMessage[]) => Promise<void>;
  },
): Promise<Collector> {
  const received: ReceivedMessage[] = [];
  const { handle, ...options } = request;
  const subscription = await bus.subscribe({
    ...options,
    async handleBatch(messages) {
      await handle?.(messages);
      received.push(...messages);
    },
  });
  return { received, texts: () => received.map(({ value }) => value.toString()), subscription };
}

/** As a service does: where a consumer crashed, another takes its place. */
export async function keepCollecting(
  bus: Bus,
  request: Pick<SubscribeOptions, "group" | "topics">,
): Promise<Pick<Collector, "texts">> {
  const consumers: Collector[] = [];
  const consume = async (): Promise<void> => {
    const replace = async (): Promise<void> => {
      await consumer.subscription.close();
      await consume();
    };
    // Once the test is over the bus takes nobody any more.
    const consumer = await collect(bus, { ...request, onCrash: () => void replace().catch(() => undefined) });
    consumers.push(consumer);
  };
  await consume();
  return { texts: () => consumers.flatMap((consumer) => consumer.texts()) };
}

export async function arrived(
  collector: { texts(): string[] },
  texts: string[],
  timeoutMs = 30_000,
): Promise<void> {
  await eventually(
    () => {
      const there = new Set(collector.texts());
      expect(texts.filter((text) => !there.has(text))).toEqual([]);
    },
    { timeoutMs },
  );
}

export interface ConsumerProcess {
  texts(): string[];
  child: ChildProcess;
  kill(): Promise<void>;
}

export async function startConsumerProcess(order: ConsumerOrder): Promise<ConsumerProcess> {
  const script = join(__dirname, "consumerProcess.ts");
  const child = spawn(
    process.execPath,
    ["--require", require.resolve("tsx/cjs"), script, JSON.stringify(order)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const gone = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  try {
    await eventually(() => expect(lines).toContain("subscribed"), { timeoutMs: 60_000 });
  } catch (error) {
    await kill();
    throw error;
  }
  return { texts: () => lines.filter((line) => line !== "subscribed"), child, kill };
}

/** The messages without their repetitions, as whoever recognises them sees them. */
export function firstOccurrences(received: readonly ReceivedMessage[]): string[] {
  return [...new Set(received.map(({ value }) => value.toString()))];
}
