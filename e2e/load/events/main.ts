// npm run bench -- events [--quick]: public events per second, and webhook deliveries per second to a receiver on this
// machine, while all endpoints answer and while every tenth hangs.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBenchPostgres } from "../postgres";
import { atLeast, atMost, line, machine, observed, type Result, table, writeJson } from "../report";
import { createWorld, type World } from "./world";

const BATCH = 200;
const ENDPOINTS = 20;
/** A thousand endpoints. One of each organisation hangs. */
const ORGANISATIONS = 100;
const ENDPOINTS_EACH = 10;
const HANG_EVERY = 10;
const EVENTS_PER_SECOND = 500;
/** The attempts under way end, and the deliveries that failed are attempted again. */
const RECOVERY_MS = 12_000;

type Say = (result: Result) => void;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: "boolean" } } });
  process.stdout.write(`${machine()}\n`);
  const postgres = await startBenchPostgres();
  const results: Result[] = [];
  const say: Say = (result) => {
    results.push(result);
    process.stdout.write(`${line(result)}\n`);
  };
  const [count, seconds] = values.quick ? [2_000, 3] : [20_000, 10];
  try {
    const world = await createWorld(postgres.adminUrl);
    await measureRates(world, count, say);
    await measureDelay(world, seconds, say);
    await measureHanging(world, seconds, say);
    await world.close();
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("events", results)}\n`);
}

async function measureRates(world: World, count: number, say: Say): Promise<void> {
  const orgId = await world.subscribe(0);
  const publish = async (events: number): Promise<void> => {
    for (let made = 0; made < events; made += BATCH) await world.publish(Array(BATCH).fill(orgId));
  };
  const rate = await rateOf(count, () => publish(count));
  say(atLeast("publish", rate, "events/s", 2_000, `batches of ${BATCH} entries of one organisation`));

  // Each event goes to each endpoint, so the deliveries and not the events are the load.
  const subscribed = await world.subscribe(ENDPOINTS);
  const deliveries = await rateOf(count, async () => {
    for (let made = 0; made < count / ENDPOINTS; made += BATCH)
      await world.publish(Array(Math.min(BATCH, count / ENDPOINTS - made)).fill(subscribed));
    await world.receiver.until(count);
  });
  say(atLeast("deliver", deliveries, "deliveries/s", 2_000, `${ENDPOINTS} endpoints of one receiver`));
}

async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return count / ((performance.now() - startMs) / 1_000);
}

async function measureDelay(world: World, seconds: number, say: Say): Promise<void> {
  const orgIds = await subscribeEach(world, ENDPOINTS, 1);
  const everyMs = 20;
  const eventsAtOnce = (EVENTS_PER_SECOND * everyMs) / 1_000;
  const delays = await world.paced({ orgIds, eventsAtOnce, everyMs, seconds });
  const note = `from the commit to the receiver, at ${EVENTS_PER_SECOND} events a second`;
  say(observed("delay.p50", quantile(delays, 0.5), "ms", note));
  say(atMost("delay.p99", quantile(delays, 0.99), "ms", 1_000, note));
}

/** The healthy load runs before and after, because the tables grow during the run. */
async function measureHanging(world: World, seconds: number, say: Say): Promise<void> {
  const orgIds = await subscribeEach(world, ORGANISATIONS, ENDPOINTS_EACH);
  const everyMs = (1_000 * ENDPOINTS_EACH) / EVENTS_PER_SECOND;
  const load = { orgIds, eventsAtOnce: 1, everyMs, seconds };
  const isOther = ({ endpoint }: { endpoint: number }) => endpoint % HANG_EVERY !== 0;
  const measure = async (name: string, note: string): Promise<number> => {
    const p99 = quantile(await world.paced(load, isOther), 0.99);
    say(observed(name, p99, "ms", note));
    return p99;
  };
  const before = await measure("healthy.p99", "1,000 endpoints answer, 500 deliveries a second");
  await world.receiver.hang(HANG_EVERY);
  const during = await measure("hanging.p99", "the same, while 100 of the endpoints hang");
  await world.receiver.hang(0);
  await sleep(RECOVERY_MS);
  const after = await measure("recovered.p99", "the same, once all endpoints answer again");
  say(
    atMost(
      "hanging.ratio",
      during / ((before + after) / 2),
      "",
      1.2,
      "hanging against the mean of the others",
    ),
  );
}

async function subscribeEach(world: World, organisations: number, endpoints: number): Promise<string[]> {
  const orgIds: string[] = [];
  for (let made = 0; made < organisations; made += 1) orgIds.push(await world.subscribe(endpoints));
  return orgIds;
}

function quantile(values: number[], share: number): number {
  if (values.length === 0) throw new Error("nothing arrived");
  return values.sort((one, other) => one - other)[Math.floor(values.length * share)]!;
}

void main();
