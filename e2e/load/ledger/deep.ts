import { performance } from "node:perf_hooks";
import { listStatement } from "../../../services/ledger/src/queries/listStatement";
import { compare, median } from "../compare";
import { cpuSeconds } from "../cpu";
import { closedLoop } from "../loop";
import { atLeast, atMost, observed, type Result } from "../report";
import { countEntries, loadHistory } from "./history";
import { transfers, type Plan } from "./sections";
import { createWorld, randomPair, transferIntent, type World } from "./world";

const SHALLOW = 100_000;
const PAGE = 20;
const PAGE_READS = 200;
/** Few enough that the latency is that of a batch and not of the queue. */
const LATENCY_CALLERS = 200;

/** The same ledger with a short and a long history, measured in turn. */
export async function deepSection(
  clusterUrl: string,
  entries: number,
  wallets: number,
  { seconds, rounds, pages }: Plan,
): Promise<Result[]> {
  const shallow = await createWorld(clusterUrl, wallets);
  const deep = await createWorld(clusterUrl, wallets);
  try {
    await loadHistory(shallow, SHALLOW);
    await loadHistory(deep, entries);
    const count = await countEntries(deep);
    const rate = (world: World) => async () => (await transfers(world, seconds)).perSecond;
    const compared = await compare(rounds, rate(deep), rate(shallow));
    const p99 = await compare(
      rounds,
      () => latency(deep, seconds),
      () => latency(shallow, seconds),
    );
    const [dear, cheap] = [await costOf(deep, seconds), await costOf(shallow, seconds)];
    const note = `${count.toLocaleString("en-US")} entries, ${Math.round(compared.first)}/s; 100,000: ${Math.round(compared.second)}/s`;
    return [
      atLeast("deep.vs_shallow", compared.ratio, "×", 0.9, note),
      atMost(
        "deep.p99_vs_shallow",
        p99.ratio,
        "×",
        1.2,
        `${p99.first.toFixed(1)} ms, ${LATENCY_CALLERS} callers`,
      ),
      observed("deep.cpu.node", dear.nodeUs, "µs/transfer", `100,000: ${cheap.nodeUs.toFixed(1)} µs`),
      observed(
        "deep.cpu.postgres",
        dear.postgresUs,
        "µs/transfer",
        `100,000: ${cheap.postgresUs.toFixed(1)} µs`,
      ),
      observed(
        "deep.wal.bytes",
        dear.walBytes,
        "bytes/transfer",
        `100,000: ${Math.round(cheap.walBytes)} bytes`,
      ),
      ...(await statementResults(deep, pages)),
    ];
  } finally {
    await Promise.all([shallow.close(), deep.close()]);
  }
}

/** Processor time and log bytes per transfer, which grow in a deep ledger. */
async function costOf(world: World, seconds: number) {
  const [before, walBefore] = [cpuSeconds(), await world.walBytes()];
  const { total } = await transfers(world, seconds, undefined, { warmUpSeconds: 0 });
  const [after, walAfter] = [cpuSeconds(), await world.walBytes()];
  return {
    nodeUs: ((after.node - before.node) / total) * 1e6,
    postgresUs: ((after.postgres - before.postgres) / total) * 1e6,
    walBytes: Number(walAfter - walBefore) / total,
  };
}

async function latency(world: World, seconds: number): Promise<number> {
  const work = async () => void (await world.post(transferIntent(...randomPair(world.wallets))));
  return (await closedLoop({ callers: LATENCY_CALLERS, seconds, work })).p99Ms;
}

/** The first and the last page of a merchant's statement, read in turn by cursor. */
async function statementResults(world: World, pages: number): Promise<Result[]> {
  const merchant = world.wallets.at(-1)!;
  const sequence = await fillStatement(world, merchant, (pages + 1) * PAGE);
  const cursor = (last: bigint) => Buffer.from(last.toString()).toString("base64url");
  const firstMs: number[] = [];
  const deepMs: number[] = [];
  for (let read = 0; read < PAGE_READS; read += 1) {
    firstMs.push(await timeOf(world, merchant, cursor(sequence + 1n)));
    deepMs.push(await timeOf(world, merchant, cursor(sequence + 1n - BigInt((pages - 1) * PAGE))));
  }
  const [first, deep] = [median(firstMs), median(deepMs)];
  return [
    atMost(
      "statement.deep_page",
      deep / first,
      "×",
      1.1,
      `page ${pages.toLocaleString("en-US")}: ${deep.toFixed(2)} ms, page 1: ${first.toFixed(2)} ms`,
    ),
    observed("statement.page_ms", first, "ms"),
  ];
}

/** Fills an account up to this many lines through the engine. */
async function fillStatement(world: World, merchant: string, lines: number): Promise<bigint> {
  const others = world.wallets.slice(0, 1_000);
  for (;;) {
    const rows = await listStatement(world.db, {
      orgId: world.orgId,
      accountId: merchant,
      types: [],
      fromMs: null,
      toMs: null,
      page: undefined,
    });
    const sequence = rows.lines[0]?.posting.sequence ?? 0n;
    const missing = lines - Number(sequence);
    if (missing <= 0) return sequence;
    await Promise.all(
      Array.from({ length: Math.min(missing, 10_000) }, (_, index) =>
        world.post(transferIntent(others[index % others.length]!, merchant)),
      ),
    );
  }
}

async function timeOf(world: World, accountId: string, cursor: string): Promise<number> {
  const startMs = performance.now();
  const { lines } = await listStatement(world.db, {
    orgId: world.orgId,
    accountId,
    types: [],
    fromMs: null,
    toMs: null,
    page: { limit: PAGE, position: { $case: "cursor", value: cursor } },
  });
  if (lines.length !== PAGE) throw new Error(`a page has ${lines.length} lines`);
  return performance.now() - startMs;
}
