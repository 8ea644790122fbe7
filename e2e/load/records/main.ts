// npm run bench -- records [--quick] [--count N] [--readme]: lists, filters and gets of recorded transactions, among many and among 10,000.
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { getRecord } from "@wonrail/chain-relayer/records/queries/getRecord";
import { listRecords, type RecordQuery } from "@wonrail/chain-relayer/records/queries/listRecords";
import { isId } from "@wonrail/kit/contract/ids";
import { readPage as read } from "@wonrail/kit/page";
import { compare, median } from "../compare";
import { startBenchPostgres } from "../postgres";
import { atMost, line, machine, type Result, table, writeJson, writeTable } from "../report";
import { addressOf, createWorld, RECORDS_OF_A_SENDER, type World } from "./world";

const SMALL_WORLD_RECORDS = 10_000;
const READS = 30;
const ROUNDS = 5;
const HOUR_MS = 3_600_000;

/** Partners' queries. Each finds the same number of rows in both worlds. */
const LISTS: Record<string, (world: World) => Partial<RecordQuery>> = {
  list: () => ({}),
  "list.page": () => ({ page: readPage({ limit: 20, position: { $case: "currentPage", value: 400 } }) }),
  "list.pending": () => ({ status: "PENDING" }),
  "list.confirmed": () => ({ status: "CONFIRMED" }),
  "list.scheduled": () => ({ paymentType: "SCHEDULED" }),
  "list.time": () => ({ from: new Date(Date.now() - 2 * HOUR_MS), to: new Date(Date.now() - HOUR_MS) }),
  "list.sender": ({ count }) => ({
    address: addressOf(1 + Math.floor((Math.random() * count) / RECORDS_OF_A_SENDER)),
  }),
  "list.sender.pending": ({ count }) => ({
    address: addressOf(1 + Math.floor((Math.random() * count) / RECORDS_OF_A_SENDER)),
    status: "PENDING",
  }),
  "list.shop": () => ({ address: addressOf(0) }),
  "list.shop.failed": () => ({ address: addressOf(0), status: "FAILED" }),
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: "boolean" }, count: { type: "string" }, readme: { type: "boolean" } },
  });
  const count = Number(values.count ?? (values.quick ? 100_000 : 1_000_000));
  const where = machine();
  process.stdout.write(`${where}\n`);
  const postgres = await startBenchPostgres();
  const results: Result[] = [];
  try {
    const many = await createWorld(postgres.adminUrl, count);
    const few = await createWorld(postgres.adminUrl, SMALL_WORLD_RECORDS);
    for (const [name, wanted] of Object.entries(LISTS))
      results.push(await measured(name, many, few, (world) => list(world, wanted(world))));
    results.push(await measured("get", many, few, await getter([many, few])));
    await Promise.all([many.close(), few.close()]);
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("records", results)}\n`);
  if (values.readme) writeTable("services/chain-relayer/README.md", "records", where, results);
}

async function measured(
  name: string,
  many: World,
  few: World,
  read: (world: World) => Promise<unknown>,
): Promise<Result> {
  const time = (world: World) => async () => {
    const times: number[] = [];
    for (let done = 0; done < READS; done += 1) {
      const startMs = performance.now();
      await read(world);
      times.push(performance.now() - startMs);
    }
    return median(times);
  };
  const { ratio, first, second } = await compare(ROUNDS, time(many), time(few));
  const note =
    `${first.toFixed(2)} ms among ${many.count.toLocaleString("en-US")}, ` +
    `${second.toFixed(2)} ms among ${SMALL_WORLD_RECORDS.toLocaleString("en-US")}`;
  const result = atMost(`${name}.vs_few`, ratio, "×", 1.2, note);
  process.stdout.write(`${line(result)}\n`);
  return result;
}

function readPage(request: Parameters<typeof read>[0]) {
  return read(request, (key) => isId("txn", key));
}

function list({ db, orgId }: World, wanted: Partial<RecordQuery>) {
  const all = { status: null, paymentType: null, address: null, from: null, to: null };
  return listRecords({ db }, { orgId, ...all, page: readPage(undefined), ...wanted });
}

/** Reads records here and there. */
async function getter(worlds: World[]): Promise<(world: World) => Promise<unknown>> {
  const ids = new Map<World, string[]>();
  for (const world of worlds) {
    const { items } = await list(world, {
      address: addressOf(0),
      page: readPage({ limit: 100, position: undefined }),
    });
    ids.set(
      world,
      items.map(({ recordId }) => recordId),
    );
  }
  return (world) => {
    const known = ids.get(world)!;
    const recordId = known[Math.floor(Math.random() * known.length)]!;
    return getRecord(world, { orgId: world.orgId, recordId });
  };
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
