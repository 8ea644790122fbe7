import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, rawSql } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { migrate } from "@wonrail/kit/migrate";
import { homeAt } from "@wonrail/local/home";
import { openSecrets } from "@wonrail/local/secrets";
import { SERVICES, type ServicePlace } from "@wonrail/local/services";
import { readStackFile, type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../ops/repository";
import { temporaryHome } from "../support/startStack";
import { type Release, checkOut, output, startRelease } from "./release";

// An upgrade as customers see it: first the new schema under old processes, while a report reads
// PostgreSQL.

const BEFORE_MS = 5_000;
const AFTER_MS = 15_000;
/** Longer than a migration's lock timeout, so that it must retry. */
const REPORT_MS = 5_000;
const INSIDE = join(ROOT, "deploy/kube/inside.mjs");
const log = createLog({ service: "upgrade", level: "warn" });

/** Returns the exit code: 1 when a customer noticed, 2 when the release is ambiguous. */
export async function main(wanted?: string): Promise<number> {
  const commit =
    wanted ?? (await output(ROOT, "git", "describe", "--tags", "--abbrev=0", "HEAD^").catch(() => ""));
  if (commit === "")
    return (say("There is no release before this one yet: say which commit stands for it."), 2);
  const place = temporaryHome();
  // Beside the checkout, because a home must be empty.
  const home = join(place, "home");
  let release: Release | undefined;
  try {
    release = await startRelease(await checkOut(commit, place), home);
    say(`${commit} serves`);
    return (await upgradeUnder(release, home)) ? 0 : 1;
  } finally {
    await release?.stop();
    rmSync(place, { recursive: true, force: true });
  }
}

async function upgradeUnder(release: Release, home: string): Promise<boolean> {
  const stack = readStackFile(homeAt(home).stackFile)!;
  const customers = await startCustomers(release, stack, home);
  await sleep(BEFORE_MS);
  for (const place of SERVICES) say(await migrateDuringReport(place, stack, home));
  await sleep(AFTER_MS);
  const load = await customers.stop();
  say(`customers meanwhile: ${load.line}`);
  for (const { name } of SERVICES) await release.restart(name);
  const story = await customers.story();
  say(`the release before, started anew on this one's schema: ${story.line}`);
  return load.ok && story.ok;
}

/** Runs this release's migrations of one schema while a transaction reads each of its tables. */
async function migrateDuringReport(
  { name, schema }: ServicePlace,
  stack: Stack,
  home: string,
): Promise<string> {
  const url = new URL(stack.postgres.urls[name]!);
  url.username = `wonrail_${schema}_owner`;
  url.password = openSecrets(homeAt(home)).password(`owner ${schema}`);
  const reader = openDatabase({
    url: stack.postgres.urls[name]!,
    schema,
    applicationName: "report",
    max: 1,
    statementTimeoutMs: 60_000,
    log,
  });
  const from = performance.now();
  const report = reader.dedicated(async (connection) => {
    const tables = await connection.query<{ name: string }>(
      rawSql(`select quote_ident(tablename) as name from pg_tables where schemaname = '${schema}'`),
    );
    await connection.run(rawSql("begin"));
    for (const table of tables) await connection.run(rawSql(`select from ${table.name} limit 1`));
    await sleep(REPORT_MS);
    await connection.run(rawSql("commit"));
  });
  try {
    await sleep(500);
    const dir = join(ROOT, "services", name, "migrations");
    const { applied } = await migrate({ url: url.toString(), schema, dir, log });
    const names = applied.map((each) => `${each.number} ${each.name}`).join(", ") || "nothing new";
    return `${schema}: ${names} (${Math.round(performance.now() - from)} ms)`;
  } finally {
    await report;
    await reader.close();
  }
}

interface Outcome {
  ok: boolean;
  line: string;
}

async function startCustomers(release: Release, stack: Stack, home: string) {
  const folder = join(home, "customers");
  mkdirSync(folder);
  const keyFile = join(folder, "api-key");
  writeFileSync(keyFile, await release.newKey(stack));
  const env = { ...process.env, GATEWAY: stack.gatewayUrl, API_KEY_FILE: keyFile, SECONDS: "600" };
  const play = (what: "load" | "story") => {
    const child = spawn(process.execPath, [INSIDE, what], { env, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    const ended = new Promise<Outcome>((resolve) => {
      child.once("exit", (code) => resolve({ ok: code === 0, line: printed.trim().split("\n").at(-1)! }));
    });
    return { child, ended };
  };
  const load = play("load");
  return {
    story: () => play("story").ended,
    stop: () => (load.child.kill("SIGTERM"), load.ended),
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
