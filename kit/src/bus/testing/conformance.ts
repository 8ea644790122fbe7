import { randomBytes } from "node:crypto";
import type { Bus, BusMessage } from "../port";
import { describeDelivery } from "./delivery";
import { killConsumerProcesses } from "./consumers";
import { describeFaults } from "./faults";
import { describeGroups } from "./groups";
import { type BusPlace, openUnderTest, type UnderTestOptions } from "./underTest";

export interface BusUnderTest {
  place: BusPlace;
  deleteTopic(topic: string): Promise<void>;
  /** Forgets the positions of a group that has no members. */
  forgetGroup(group: string): Promise<void>;
  close(): Promise<void>;
}

export interface Suite {
  target: () => BusUnderTest;
  /** Opened for the test that runs, and closed after it. */
  open: (options?: UnderTestOptions) => Bus;
  newTopic: (partitions?: number) => Promise<string>;
}

/** What this product relies on, asked of each bus in the same words. */
export function busConformance(name: string, start: () => Promise<BusUnderTest>): void {
  describe(`the bus on ${name}`, () => {
    let target: BusUnderTest;
    let maker: Bus;
    let opened: Bus[] = [];

    jest.setTimeout(60_000);
    beforeAll(async () => {
      target = await start();
      maker = openUnderTest(target.place);
    }, 60_000);
    afterEach(async () => {
      await Promise.all(opened.map((bus) => bus.close()));
      opened = [];
      await killConsumerProcesses();
    }, 30_000);
    afterAll(async () => {
      await maker.close();
      await target.close();
    });

    const suite: Suite = {
      target: () => target,
      open(options) {
        const bus = openUnderTest(target.place, options);
        opened.push(bus);
        return bus;
      },
      async newTopic(partitions = 1) {
        const topic = newName("topic");
        await maker.ensureTopics([{ name: topic, partitions }]);
        return topic;
      },
    };
    describeDelivery(suite);
    describeGroups(suite);
    describeFaults(suite);
  });
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
