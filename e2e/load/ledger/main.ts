// npm run bench -- ledger [--quick | --deep] [--only engine,grpc,hot,payment,deep] [--postgres URL] [--peer name=URL …] [--readme]
import { parseArgs } from "node:util";
import { measurePeers } from "../peers";
import { startBenchPostgres } from "../postgres";
import { line, machine, table, writeJson, writeTable, type Result } from "../report";
import { deepSection } from "./deep";
import { engineSection, grpcSection, hotSection, paymentSection, transfers, type Plan } from "./sections";
import { createWorld } from "./world";

const SECTIONS = ["engine", "hot", "payment", "grpc", "deep"] as const;
const PLANS = {
  quick: { seconds: 1, rounds: 1, memorySeconds: 2, history: 150_000, wallets: 2_000, pages: 500 },
  normal: { seconds: 5, rounds: 3, memorySeconds: 600, history: 5_000_000, wallets: 10_000, pages: 10_000 },
  deep: { seconds: 10, rounds: 3, memorySeconds: 600, history: 33_000_000, wallets: 10_000, pages: 10_000 },
} satisfies Record<string, Plan & { history: number; wallets: number }>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      deep: { type: "boolean" },
      only: { type: "string" },
      postgres: { type: "string" },
      peer: { type: "string", multiple: true },
      "memory-seconds": { type: "string" },
      readme: { type: "boolean" },
    },
  });
  const chosen = values.quick ? PLANS.quick : values.deep ? PLANS.deep : PLANS.normal;
  const plan = { ...chosen, memorySeconds: Number(values["memory-seconds"] ?? chosen.memorySeconds) };
  const only = values.only?.split(",") ?? [...SECTIONS];
  const where = machine();
  process.stdout.write(`${where}\n`);
  const postgres = values.postgres === undefined ? await startBenchPostgres() : given(values.postgres);
  process.stdout.write(`${postgres.label}\n\n`);
  const results: Result[] = [];
  const say = (more: Result[]): void => {
    for (const result of more) process.stdout.write(`${line(result)}\n`);
    results.push(...more);
  };
  try {
    const world = await createWorld(postgres.adminUrl, plan.wallets);
    if (only.includes("engine")) say(await engineSection(world, plan));
    if (only.includes("hot")) say(await hotSection(world, plan));
    if (only.includes("payment")) say(await paymentSection(world, plan));
    if (only.includes("grpc")) say(await grpcSection(world, plan));
    if (values.peer)
      say(await measurePeers(values.peer, plan.seconds, (await transfers(world, plan.seconds)).perSecond));
    await world.close();
    if (only.includes("deep")) say(await deepSection(postgres.adminUrl, plan.history, plan.wallets, plan));
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("ledger", results)}\n`);
  if (values.readme) writeTable("docs/performance/ledger.md", "ledger", where, results);
}

function given(url: string) {
  return { adminUrl: url, label: "PostgreSQL given by --postgres", stop: async () => undefined };
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
