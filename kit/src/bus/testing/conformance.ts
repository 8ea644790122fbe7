import { randomBytes } from "node:crypto";
import { type Proxy, startProxy } from "../../testing";
import type { Bus, BusMessage } from "../port";
import { describeDelivery } from "./delivery";
import type { ConsumerOrder } from "./consumerProcess";
import { type ConsumerProcess, startConsumerProcess } from "./consumers";
import { describeFaults } from "./faults";
import { describeGroups } from "./groups";
import { type BusPlace, networkTarget, openUnderTest, type UnderTestOptions } from "./underTest";

export interface BusUnderTest {
  place: BusPlace;
  deleteTopic(topic: string): Promise<void>;
  /** Forgets the positions of a group that has no members. */
  forgetGroup(group: string): Promise<void>;
  close(): Promise<void>;
}

/** What a test has for itself; it is closed after it. */
export interface Scope {
  target: BusUnderTest;
  open: (options?: UnderTestOptions) => Bus;
  newTopic: (partitions?: number) => Promise<string>;
  /** A network in front of the bus that can fail. */
  startProxy: () => Promise<Proxy>;
  startConsumer: (order: ConsumerOrder) => Promise<ConsumerProcess>;
}

/** Something that a bus has to do. The tests of a group run beside each other, since most of the time they wait for a lease to end. */
export type Conforms = (what: string, test: (scope: Scope) => Promise<void>) => void;

const SLOW = 180_000;

/** What this product relies on, asked of each bus in the same words. */
export function busConformance(name: string, start: () => Promise<BusUnderTest>): void {
  describe(`the bus on ${name}`, () => {
    let target: BusUnderTest;
    let maker: Bus;
    beforeAll(async () => {
      target = await start();
      maker = openUnderTest(target.place);
    }, 60_000);
    afterAll(async () => {
      await maker.close();
      await target.close();
    });

    const conforms: Conforms = (what, test) =>
      it.concurrent(
        what,
        async () => {
          const { scope, close } = openScope(target, maker);
          try {
            await test(scope);
          } finally {
            await close();
          }
        },
        SLOW,
      );
    describeDelivery(conforms);
    describeGroups(conforms);
    describeFaults(conforms);
  });
}

function openScope(target: BusUnderTest, maker: Bus): { scope: Scope; close: () => Promise<void> } {
  const closing: (() => Promise<void>)[] = [];
  const scope: Scope = {
    target,
    open(options) {
      const bus = openUnderTest(target.place, options);
      closing.push(() => bus.close());
      return bus;
    },
    async newTopic(partitions = 1) {
      const topic = newName("topic");
      await maker.ensureTopics([{ name: topic, partitions }]);
      return topic;
    },
    async startProxy() {
      const proxy = await startProxy({ target: networkTarget(target.place) });
      closing.push(() => proxy.close());
      return proxy;
    },
    async startConsumer(order) {
      const consumer = await startConsumerProcess(order);
      closing.push(() => consumer.kill());
      return consumer;
    },
  };
  // A bus before the network that it goes through.
  const close = async (): Promise<void> => {
    for (const end of closing.toReversed()) await end();
  };
  return { scope, close };
}

export function newName(kind: string): string {
  return `${kind}.${randomBytes(6).toString("hex")}`;
}

export function textMessage(topic: string, key: string, text: string): BusMessage {
  return { topic, key, value: Buffer.from(text), headers: {} };
}

/** "a-0", "a-1", …: numbered texts of one key. */
export function series(key: string, count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `${key}-${from + index}`);
}

export function seriesMessages(topic: string, key: string, count: number, from = 0): BusMessage[] {
  return series(key, count, from).map((text) => textMessage(topic, key, text));
}

export function keyOf(text: string): string {
  return text.slice(0, text.lastIndexOf("-"));
}
