// npm run bench -- reports [--quick] [--lines N] [--wallets N] [--only json,csv,camt053,settlements]
// [--readme]: streams an organisation's reports, and measures their rate and the memory of every
// process.
import { request } from "node:http";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startBenchPostgres } from "../postgres";
import { atMost, line, machine, observed, type Result, table, writeJson, writeTable } from "../report";
import { createWorld, type World } from "./world";

const MAX_MEMORY_MB = 200;
const PERIOD = `from=${new Date(Date.now() - 86_400_000).toISOString()}`;

/** A report, and the text that begins each of its lines. */
const REPORTS: Record<string, { query: string; mark: string }> = {
  json: { query: `statements?${PERIOD}`, mark: '"transactionId":' },
  csv: { query: `statements?${PERIOD}&format=csv`, mark: ",jrn_" },
  camt053: { query: `statements?${PERIOD}&format=camt053`, mark: "<Ntry>" },
};
const SETTLEMENTS = { query: `settlements?${PERIOD}&format=csv`, mark: "\r\n" };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      lines: { type: "string" },
      wallets: { type: "string" },
      only: { type: "string" },
      readme: { type: "boolean" },
    },
  });
  const lines = Number(values.lines ?? (values.quick ? 100_000 : 1_000_000));
  const wallets = Number(values.wallets ?? 1_000);
  const isWanted = (name: string) => values.only?.split(",").includes(name) ?? true;
  const where = machine();
  process.stdout.write(`${where}\n`);
  const postgres = await startBenchPostgres();
  const results: Result[] = [];
  const say = (result: Result): void => {
    process.stdout.write(`${line(result)}\n`);
    results.push(result);
  };
  try {
    const world = await createWorld(postgres.adminUrl, { wallets, lines });
    try {
      for (const [name, report] of Object.entries(REPORTS))
        if (isWanted(name)) say(await rateOf(world, name, report, lines));
      // A transfer has two lines, and the file has a head and an end.
      const records = (lines - wallets) / 2 + wallets + 2;
      if (isWanted("settlements")) say(await rateOf(world, "settlements", SETTLEMENTS, records));
      for (const [name, memoryMb] of await world.peaks())
        say(atMost(`memory.${name}`, memoryMb, "MB", MAX_MEMORY_MB, "the most that the process has had"));
    } finally {
      await world.close();
    }
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("reports", results)}\n`);
  if (values.readme) writeTable("docs/performance/reports.md", "reports", where, results);
}

/** Downloads a report and counts its lines. */
async function rateOf(
  world: World,
  name: string,
  { query, mark }: { query: string; mark: string },
  expected: number,
): Promise<Result> {
  const startMs = performance.now();
  const { bytes, count } = await download(world, query, mark);
  if (count !== expected) throw new Error(`${name} has ${count} of ${expected} lines`);
  const seconds = (performance.now() - startMs) / 1000;
  const note = `${count.toLocaleString("en-US")} lines, ${Math.round(bytes / 1e6)} MB in ${seconds.toFixed(1)} s`;
  return observed(`${name}.rate`, count / seconds, "lines/s", note);
}

function download(
  { url, apiKey }: World,
  query: string,
  mark: string,
): Promise<{ bytes: number; count: number }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/reports/${query}`, { headers: { "X-API-Key": apiKey } }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`${query} was answered ${answer.statusCode}`));
      let [bytes, count, rest] = [0, 0, ""];
      answer.setEncoding("latin1");
      answer.on("data", (text: string) => {
        bytes += text.length;
        const parts = (rest + text).split(mark);
        count += parts.length - 1;
        // A mark may be divided between two chunks.
        rest = parts.at(-1)!.slice(1 - mark.length);
      });
      answer.on("end", () => resolve({ bytes, count }));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
