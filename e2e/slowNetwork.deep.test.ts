import { type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Proxy, type ProxyMode, startProxy } from "@wonrail/kit/testing";
import { pick, seeded } from "@wonrail/kit/testing/random";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { runConcurrently } from "./load/loop";
import { UNFINISHED_WORK, untilNone } from "./money/unfinishedWork";
import { available, openWallet } from "./money/scenes";
import { type Answer, type Api, ASK_AGAIN, type Json, openApi } from "./support/api";
import { newOrganisation } from "./support/operators";
import { startInstance } from "./support/startInstance";
import { startStack, type TestStack } from "./support/startStack";
import { verifyLedger } from "./support/verifyLedger";
import { collectFailureLogs } from "./support/collectFailureLogs";

// A second gateway and payment service whose links are slow, lossy and sometimes clogged. Requests
// are answered in time, and in the end each key has had one effect.

jest.setTimeout(300_000);

const SEED = Number(process.env.WONRAIL_SEED ?? Date.now() % 1_000_000);
const WALLETS = 12;
const CLIENTS = 16;
const MAX_CLOGGED_COMMANDS = 400;
/** Attempts of a client while the network is bad. */
const TRIES = 3;
const BETWEEN_TRIES_MS = 500;
/** REQUEST_BUDGET_MS of a gateway, plus two seconds for a busy machine. */
const IN_TIME_MS = 10_000 + 2_000;
/**
 * Longest pauses between two changes of the links, and how long a link stays clogged; finally
 * longer than a request may take.
 */
const CLOGGING = [
  { stepMs: 500, heldMs: 0 },
  { stepMs: 1_000, heldMs: 0 },
  { stepMs: 1_000, heldMs: 10_000 },
];
/** Time in which open work must end once the network is good. */
const OVER_MS = 30_000;
const DATABASE = "payment to postgres";
const PASS: ProxyMode = { kind: "pass" };
const MUCH_WON = 10_000_000;

/** A money command under one key, and its effect on wallets. */
interface Command {
  path: string;
  body: Json;
  key: string;
  adds: Record<string, number>;
  /** Answers that reported success. */
  done: Json[];
}

const [randomCommand, randomClog] = [seeded(SEED), seeded(SEED + 1)];
const links: Record<string, { proxy: Proxy; slow: ProxyMode }> = {};
const seconds: ChildProcess[] = [];
const commands: Command[] = [];
const wrong: unknown[] = [];

let stack: TestStack;
let api: Api;
let slowApi: Api;
let wallets: Json[];

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  const organisation = await newOrganisation(stack.stack(), "--daily-limit", "1000000000");
  api = organisation.api;
  wallets = await Promise.all([...Array(WALLETS)].map(() => openWallet(api, MUCH_WON)));
  slowApi = openApi(await startSecondPair(), organisation.apiKey);
  await slowApi.get("/api/wallet-auth/session");
});
afterAll(async () => {
  for (const child of seconds) child.kill("SIGKILL");
  for (const { proxy } of Object.values(links)) await proxy.close();
  await stack?.stop();
});

// The checks of a command read payment's database, so a slow link can cause a second attempt.
test.each([
  ["the ways between the processes are", 96, (name: string) => name !== DATABASE],
  ["the way to the database is too", CLIENTS, () => true],
] as const)(
  `%s slow and lossy: every one of %d commands is answered in time, and most are done (seed ${SEED})`,
  async (_, count, isSlow) => {
    for (const [name, { proxy, slow }] of Object.entries(links)) proxy.setMode(isSlow(name) ? slow : PASS);
    const asked = createCommands(count);
    await runConcurrently(CLIENTS, count, (number) => sendUntilDone(asked[number]!));
    expect(withFailureLogs(wrong)).toEqual([]);
    expect(doneOf(asked)).toBeGreaterThan(count / 2);
  },
);

test(`every command is answered in time while links clog and open one after the other (seed ${SEED})`, async () => {
  openAllLinks();
  const asked = createCommands(MAX_CLOGGED_COMMANDS);
  let begun = 0;
  let clogging = true;
  const clients = [...Array(CLIENTS)].map(async () => {
    for (; clogging && begun < asked.length; await sleep(BETWEEN_TRIES_MS))
      await sendUntilDone(asked[begun++]!);
  });
  for (const times of CLOGGING) await swizzle(times);
  clogging = false;
  await Promise.all(clients);
  commands.splice(commands.indexOf(asked[0]!) + begun);
  expect(withFailureLogs(wrong)).toEqual([]);
  expect(doneOf(asked)).toBeGreaterThan(begun / 2);
});

test(`each key keeps its answer and has one effect when the network recovers (seed ${SEED})`, async () => {
  openAllLinks();
  const endMs = performance.now() + OVER_MS;
  await runConcurrently(CLIENTS, commands.length, async (number) => {
    const command = commands[number]!;
    while (!(await ask(command)) && performance.now() < endMs) await sleep(BETWEEN_TRIES_MS);
  });
  expect(withFailureLogs(wrong)).toEqual([]);
  expect(commands.filter(({ done }) => done.length === 0)).toEqual([]);
  for (const { done } of commands) expect(done).toEqual(done.map(() => done[0]));
  await untilNone(stack.stack(), Object.keys(UNFINISHED_WORK) as (keyof typeof UNFINISHED_WORK)[], OVER_MS);

  const found = await Promise.all(wallets.map(({ walletId }) => available(api, walletId)));
  const added = (walletId: string) => commands.reduce((sum, { adds }) => sum + (adds[walletId] ?? 0), 0);
  expect(found).toEqual(wallets.map(({ walletId }) => MUCH_WON + added(walletId)));
  expect(await verifyLedger(stack.stack())).toContain("0 violations");
});

/** Returns the gateway's address. */
async function startSecondPair(): Promise<string> {
  const { services, postgres } = stack.stack();
  const through = async (name: string, address: string): Promise<string> => {
    const { hostname, port } = new URL(`tcp://${address}`);
    const slow = { kind: "slow", random: seeded(SEED + 2 + Object.keys(links).length) } as const;
    const proxy = await startProxy({ target: { host: hostname, port: Number(port) } });
    links[name] = { proxy, slow };
    return `${proxy.host}:${proxy.port}`;
  };
  const start = async (name: string, settings: Record<string, string>): Promise<void> => {
    const running = (await stack.statuses()).find((each) => each.name === name)!;
    const logFile = join(stack.home.logsDir, `slow-${name}.log`);
    seconds.push(await startInstance(name, running.pid!, settings, logFile));
  };
  const [grpc, http] = [await randomFreePort(), await randomFreePort()];
  const database = new URL(postgres.urls.payment!);
  database.host = await through(DATABASE, database.host);
  await start("payment", {
    GRPC_PORT: String(grpc),
    DATABASE_URL: database.href,
    AUTH_ADDRESS: await through("payment to auth", services.auth!.grpc!),
    WALLET_ADDRESS: await through("payment to wallet", services.wallet!.grpc!),
    LEDGER_ADDRESS: await through("payment to ledger", services.ledger!.grpc!),
    RELAYER_ADDRESS: await through("payment to relayer", services["chain-relayer"]!.grpc!),
  });
  await start("gateway", {
    HTTP_PORT: String(http),
    AUTH_ADDRESS: await through("gateway to auth", services.auth!.grpc!),
    WALLET_ADDRESS: await through("gateway to wallet", services.wallet!.grpc!),
    PAYMENT_ADDRESS: await through("gateway to payment", `127.0.0.1:${grpc}`),
  });
  return `http://127.0.0.1:${http}`;
}

function openAllLinks(): void {
  for (const { proxy } of Object.values(links)) proxy.setMode(PASS);
}

/** Clogs some of the links in turn, and opens them in another order. */
async function swizzle({ stepMs, heldMs }: (typeof CLOGGING)[number]): Promise<void> {
  const some = shuffled(Object.keys(links)).slice(0, Object.keys(links).length / 2);
  const turn = async (name: string, mode: ProxyMode): Promise<void> => {
    links[name]!.proxy.setMode(mode);
    await sleep(randomClog() * stepMs);
  };
  for (const name of some) await turn(name, { kind: "clogged" });
  await sleep(heldMs);
  for (const name of shuffled(some)) await turn(name, PASS);
}

function shuffled(names: string[]): string[] {
  return names
    .map((name) => ({ name, place: randomClog() }))
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name);
}

const KINDS: ((one: Json, other: Json, amount: number) => Omit<Command, "key" | "done">)[] = [
  ({ walletId: payerWalletId }, { walletId: receiverWalletId }, amount) => ({
    path: "/api/wallets/payment",
    body: { payerWalletId, receiverWalletId, amount, incentiveAmount: 0 },
    adds: { [payerWalletId]: -amount, [receiverWalletId]: amount },
  }),
  ({ walletId: fromWalletId }, { walletId, walletAddress: toWalletAddress }, amount) => ({
    path: "/api/wallets/transfer",
    body: { fromWalletId, toWalletAddress, amount },
    adds: { [fromWalletId]: -amount, [walletId]: amount },
  }),
  ({ walletId }, _, amount) => ({
    path: "/api/wallets/charge",
    body: { walletId, amount: 1_000 + amount },
    adds: { [walletId]: 1_000 + amount },
  }),
  ({ walletId, chargeId }, _, amount) => ({
    path: "/api/wallets/charge/cancel",
    body: { chargeId, amount },
    adds: { [walletId]: -amount },
  }),
];

/**
 * Amounts with distinct sums, so that a double effect is visible. No wallet runs out in any order.
 */
function createCommands(count: number): Command[] {
  const made = Array.from({ length: count }, (_, number): Command => {
    const one = pick(randomCommand, wallets);
    const other = pick(
      randomCommand,
      wallets.filter((wallet) => wallet !== one),
    );
    const amount = 100 + Math.floor(randomCommand() * 9_900);
    return { ...KINDS[number % KINDS.length]!(one, other, amount), key: randomUUID(), done: [] };
  });
  commands.push(...made);
  return made;
}

async function sendUntilDone(command: Command): Promise<void> {
  for (let tries = 1; !(await ask(command)) && tries < TRIES; tries += 1) await sleep(BETWEEN_TRIES_MS);
}

/** Sends once, records an invalid answer, and returns whether the command is done. */
async function ask(command: Command): Promise<boolean> {
  const { path, body, key, done } = command;
  const startedMs = performance.now();
  const answer = await slowApi.call("POST", path, body, { idempotencyKey: key });
  const tookMs = Math.round(performance.now() - startedMs);
  if (tookMs > IN_TIME_MS || !isValidAnswer(answer)) wrong.push({ path, key, tookMs, said: answer.body });
  if (answer.status < 300) done.push(answer.body.data);
  return answer.status < 300;
}

function isValidAnswer({ status, headers, body: { error } }: Answer<Json>): boolean {
  if (status < 300) return true;
  if (error?.code === "SYS_002" && !(Number(headers.get("retry-after")) > 0)) return false;
  return ASK_AGAIN.includes(error?.code ?? "");
}

function doneOf(asked: Command[]): number {
  return asked.filter(({ done }) => done.length > 0).length;
}

function withFailureLogs(found: unknown[]): unknown[] {
  return found.length === 0 ? [] : [...found.slice(0, 5), ...collectFailureLogs(stack)];
}
