// npm run bench -- api [--quick] [--seconds N] [--soak-seconds N] [--wallets N] [--peer name=URL …] [--readme]
// npm run bench -- api --against COMMIT|FOLDER [--turns N] [--seconds N] [--wallets N] [--bus kafka|none]:
// this checkout and another one in turns. Without --bus both use Kafka if the machine can run it.
// npm run bench -- api --buses [--turns N] [--seconds N] [--wallets N]: with Kafka and without, in turns.
import { parseArgs } from "node:util";
import { measurePeers } from "../peers";
import { line, machine, type Result, table, writeJson, writeTable } from "../report";
import { compareBuses, measureAgainst } from "./against";
import { keyLookUps } from "./keyLookUps";
import { pairs } from "./pairs";
import { scheduled } from "./scheduled";
import { baselines, commands, costs, hotMerchant, settling, warmUp } from "./sections";
import { soak } from "./soak";
import { createWorld, type World } from "./world";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      seconds: { type: "string" },
      "soak-seconds": { type: "string" },
      wallets: { type: "string" },
      peer: { type: "string", multiple: true },
      readme: { type: "boolean" },
      against: { type: "string" },
      turns: { type: "string" },
      bus: { type: "string" },
      buses: { type: "boolean" },
    },
  });
  if (values.against !== undefined) {
    process.stdout.write(`${machine()}\n`);
    const results = await measureAgainst({
      other: values.against,
      turns: Number(values.turns ?? 8),
      seconds: Number(values.seconds ?? 5),
      bus: readBus(values.bus),
      wallets: Number(values.wallets ?? 200),
    });
    process.stdout.write(`\n${table(results)}\n\n${writeJson("api-against", results)}\n`);
    return;
  }
  if (values.buses) {
    process.stdout.write(`${machine()}\n`);
    const [turns, seconds, wallets] = [values.turns ?? 8, values.seconds ?? 5, values.wallets ?? 200];
    const results = await compareBuses(Number(turns), Number(seconds), Number(wallets));
    process.stdout.write(`\n${table(results)}\n\n${writeJson("api-buses", results)}\n`);
    return;
  }
  const seconds = Number(values.seconds ?? (values.quick ? 2 : 10));
  const soakSeconds = Number(values["soak-seconds"] ?? (values.quick ? 10 : 300));
  const where = machine();
  process.stdout.write(`${where}\n`);
  const wallets = Number(values.wallets ?? (values.quick ? 100 : 1_000));
  const results: Result[] = [];
  const say = (more: Result[]): void => {
    for (const result of more) process.stdout.write(`${line(result)}\n`);
    results.push(...more);
  };
  const paymentRate = await inWorld(wallets, async (world) => {
    await warmUp(world, seconds);
    const base = await baselines(world, seconds);
    say(base.results);
    say(await keyLookUps(world, seconds));
    const measured = await commands(world, seconds, base);
    say(measured.results);
    say(await hotMerchant(world, seconds));
    say(await costs(world, seconds));
    if (values.peer) say(await measurePeers(values.peer, seconds, measured.transferRate));
    say(await soak(world, soakSeconds, measured.paymentRate));
    return measured.paymentRate;
  });
  // A second world, without a settlement backlog.
  await inWorld(wallets, async (world) => {
    say(await scheduled(world));
    say(await pairs(world, seconds, paymentRate));
    await world.settle("resume");
    say(await settling(world, seconds));
  });
  process.stdout.write(`\n${table(results)}\n\n${writeJson("api", results)}\n`);
  if (values.readme) writeTable("gateway/README.md", "api", where, results);
}

function readBus(text: string | undefined): "kafka" | "none" | undefined {
  if (text === undefined || text === "kafka" || text === "none") return text;
  throw new Error(`--bus must be kafka or none, not ${text}`);
}

async function inWorld<T>(wallets: number, work: (world: World) => Promise<T>): Promise<T> {
  const world = await createWorld(wallets);
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
