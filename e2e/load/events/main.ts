// npm run bench -- events [--quick]: public events per second, and webhook deliveries per second to a receiver on this machine.
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startBenchPostgres } from "../postgres";
import { atLeast, atMost, line, machine, type Result, table, writeJson } from "../report";
import { createWorld } from "./world";

const BATCH = 200;
const ENDPOINTS = 20;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: "boolean" } } });
  const count = values.quick ? 2_000 : 10_000;
  process.stdout.write(`${machine()}\n`);
  const postgres = await startBenchPostgres();
  const results: Result[] = [];
  const say = (result: Result): void => {
    results.push(result);
    process.stdout.write(`${line(result)}\n`);
  };
  try {
    const world = await createWorld(postgres.adminUrl);
    say(
      atLeast(
        "publish",
        await world.publish(count, BATCH),
        "events/s",
        2_000,
        "batches of 200 entries of one organisation",
      ),
    );
    // Each event goes to each endpoint, so the deliveries and not the events are the load.
    await world.subscribe(ENDPOINTS);
    const startMs = performance.now();
    await world.publish(count / ENDPOINTS, BATCH);
    await world.delivered(count);
    const seconds = (performance.now() - startMs) / 1000;
    say(atLeast("deliver", count / seconds, "deliveries/s", 2_000, `${ENDPOINTS} endpoints of one receiver`));
    say(
      atMost(
        "deliver.p99",
        await world.paced(values.quick ? 500 : 2_500, 500 / ENDPOINTS),
        "ms",
        1_000,
        "from the commit to the receiver, at 500 deliveries a second",
      ),
    );
    await world.close();
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("events", results)}\n`);
}

void main();
