import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeExit } from "@wonrail/local/process/ownedProcess";
import { collectFacts, describeRun, type Sample, type Violation } from "./checker";
import { openHistory } from "./historyWriter";
import { type Fault } from "./nemesis/fault";
import { FAULTS } from "./nemesis/faults";
import { runNemesis } from "./nemesis/nemesis";
import { describeSchedule, planSchedule } from "./nemesis/schedule";
import { isSound, type RunResult } from "./result";
import { readHistory } from "./history";
import { measurePauses } from "./pauses";
import { commandOf, type RunOptions } from "./runOptions";
import { addEndSamples, takeSamples } from "./samples";
import { verifyLedger } from "../support/verifyLedger";
import { heal, untilSettled } from "./settle";
import { type Clients, openClients } from "./workload/clients";
import { openDeposits } from "./workload/deposits";
import { accessOf } from "./world/access";
import { openWorld, type World } from "./world/openWorld";

const CLIENTS = 12;
const ANSWERED_MS = 60_000;
/** A leased delivery of a killed process is sent again after a minute. */
const SETTLED_MS = 120_000;
const STALLED_MS = 180_000;
const PROGRESS_EVERY_MS = 5_000;
/** Outside addresses with no wallet behind them. */
const OUTSIDE = [
  "0x00000000000000000000000000000000000a0A01",
  "0x00000000000000000000000000000000000A0a02",
].map((address) => address.toLowerCase());
const UNFIT = "0x000000000000000000000000000000000000bad1";

/** Runs one seed: workload and faults together, then the repair, the settlement and the check. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { seed, operations, folder, report, brokers, ha = false } = options;
  mkdirSync(folder, { recursive: true });
  const history = openHistory(join(folder, "history.jsonl"));
  const world = await openWorld({ history, seed, brokers, ha });
  report(`the world is up: ${world.replicas.length} processes`);
  try {
    const possible = FAULTS.filter(({ isPossible }) => isPossible?.(world) ?? true);
    const faults = options.kinds ? choose(possible, options.kinds) : possible;
    const planned = planSchedule({ seed, faults: options.faults, kinds: faults, speed: options.speed });
    const schedule = planned.slice(0, options.prefix);
    report(
      `seed ${seed}: ${operations} operations, ${schedule.length} faults\n${describeSchedule(schedule)}`,
    );
    const startedAt = new Date().toISOString();
    const names = schedule.map(({ kind }) => kind);
    history.write({ kind: "start", seed, operations, faults: names, startedAt });
    await world.chain.setBlocked(UNFIT, true);
    const shape = { seed, clients: options.clients ?? CLIENTS, organisations: world.organisations.length };
    const surroundings = { outside: OUTSIDE, unfit: UNFIT };
    const clients = await openClients({ ...shape, world, history, surroundings });
    report(`the organisations are ready: ${clients.done()} operations in advance`);
    const deposits = openDeposits(world, { seed, outside: OUTSIDE });
    const samples = await takeSamples(world, "start");

    const progress = progressOf(options, clients);
    const stopReport = reportEvery(
      () => `${Math.round(progress() * 100)} %: ${clients.done()} answers, ${clients.open()} open`,
      report,
    );
    let hasFaults = true;
    const hasNext = () => hasFaults || progress() < 1;
    const working = Promise.all([clients.run(hasNext), deposits.run(hasNext)]);
    const nemesis = await runNemesis({ world, history, schedule, faults, progress, report });
    hasFaults = false;
    await heal(world);
    report("the faults are over");
    while (progress() < 1) await sleep(100);
    await untilAnswered(clients, working);
    report(`every operation has its answer, and the node took ${deposits.sent()} deposits`);
    stopReport();
    const unsettled = await untilSettled(world, { withinMs: SETTLED_MS, report });
    report("all work is done");
    const checked = await check(world, history.file, samples, report);
    const result: RunResult = {
      seed,
      command: commandOf(options),
      historyFile: history.file,
      schedule,
      outcomes: clients.outcomes,
      unknown: clients.open(),
      begunFaults: nemesis.begun,
      pausesMs: await measurePauses(readHistory(history.file)),
      failedFaults: nemesis.failed,
      unsettled,
      crashes: crashesOf(world),
      ...checked,
    };
    if (!isSound(result)) cpSync(world.home.logsDir, join(folder, "logs"), { recursive: true });
    return result;
  } finally {
    await world.close();
    history.close();
  }
}

/** Collects the facts while the world is up, and checks the files. */
async function check(
  world: World,
  historyFile: string,
  startSamples: Sample[],
  report: RunOptions["report"],
): Promise<Pick<RunResult, "violations" | "violationsText">> {
  const samples = await addEndSamples(world, startSamples);
  const verification = await verify(world);
  const observed = { samples, forgedDeliveries: world.receiver.forged, verification };
  await collectFacts(historyFile, accessOf(world), observed);
  report("the facts are collected");
  const { violations, text } = await describeRun(historyFile);
  report(`the checker found ${violations.length} violations`);
  return { violations: countByCheck(violations), violationsText: text };
}

function choose(possible: readonly Fault[], names: string[]): Fault[] {
  return names.map((name) => {
    const found = possible.find((fault) => fault.name === name);
    if (found) return found;
    throw new Error(
      `There is no fault ${name} here. There are: ${possible.map((one) => one.name).join(", ")}.`,
    );
  });
}

/**
 * The finished part of the run, from 0 to 1: of the time when minutes are given, else of the
 * operations. A run without any answer for some minutes is over: its operations stay unknown.
 */
function progressOf({ operations, minutes }: RunOptions, clients: Clients): () => number {
  const [startedMs, before] = [performance.now(), clients.done()];
  const newest = { done: before, atMs: startedMs };
  return () => {
    const [done, nowMs] = [clients.done(), performance.now()];
    if (done > newest.done) Object.assign(newest, { done, atMs: nowMs });
    if (nowMs - newest.atMs > STALLED_MS) return 1;
    const part =
      minutes === undefined ? (done - before) / operations : (nowMs - startedMs) / (minutes * 60_000);
    return Math.min(1, part);
  };
}

function reportEvery(describe: () => string, report: (line: string) => void): () => void {
  const timer = setInterval(() => report(describe()), PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

/** Waits for the clients. After a minute the rest of their operations stays unknown. */
async function untilAnswered(clients: Clients, working: Promise<unknown>): Promise<void> {
  const timer = setTimeout(() => clients.giveUp(), ANSWERED_MS);
  await working;
  clearTimeout(timer);
}

function crashesOf({ replicas }: World): string[] {
  return replicas.flatMap(({ name, crashes }) => crashes.map((exit) => `${name}: ${describeExit(exit)}`));
}

function countByCheck(violations: Violation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { check } of violations) counts.set(check, (counts.get(check) ?? 0) + 1);
  return counts;
}

/** The ledger's own verification of its journal: its output, also when it found something. */
function verify({ stack }: World): Promise<string> {
  return verifyLedger(stack).catch((error: Error) => error.message);
}
