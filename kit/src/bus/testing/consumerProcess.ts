// A consumer in a process of its own, so that a test can kill it or freeze it. Says each message on a line of its output.
import { setTimeout as sleep } from "node:timers/promises";
import { type BusPlace, openUnderTest } from "./underTest";

export interface ConsumerOrder {
  place: BusPlace;
  group: string;
  topics: string[];
  maxBatch: number;
  handleMs: number;
}

async function main(): Promise<void> {
  const { place, handleMs, ...request } = JSON.parse(process.argv[2]!) as ConsumerOrder;
  const bus = openUnderTest(place);
  await bus.subscribe({
    ...request,
    async handleBatch(messages) {
      for (const message of messages) process.stdout.write(`${message.value.toString()}\n`);
      await sleep(handleMs);
    },
  });
  process.stdout.write("subscribed\n");
}

void main();
