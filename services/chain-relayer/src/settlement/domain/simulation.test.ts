/**
 * Simulates an operation's whole life on a fake chain with the real decisions: stepsOf, planQueue
 * and decideNext. Two writers may stop for good between any two effects, or wake up after their
 * replacement. Blocks are dropped before they are final, nodes forget transactions, and strangers
 * submit our authorizations and use our key.
 */
import { decideNext, type Evidence, type OperationFacts } from "./decideNext";
import { planQueue } from "./planQueue";
import { type Step } from "./steps";
import { seeded } from "@wonrail/kit/testing/random";
import { move, randomOperations } from "./testing/randomOperations";

const OPERATIONS = 100_000;
const PER_WORLD = 250;
const WALLETS = 6;
const FINALITY = 4;
const END = 40n;
const OUTSIDE = "0xoutside";

test(`pays each of ${OPERATIONS} operations once, whichever part stops at any point`, () => {
  let executed = 0;
  let failed = 0;
  for (let seed = 1; seed <= OPERATIONS / PER_WORLD; seed += 1) {
    const world = simulate(seed);
    executed += world.operations.filter(({ state }) => state === "CONFIRMED").length;
    failed += world.operations.filter(({ state }) => state === "FAILED").length;
    const wrong = verdict(world);
    if (wrong.length > 0) throw new Error(`seed ${seed}: ${wrong.slice(0, 5).join("; ")}`);
  }
  expect(executed + failed).toBe(OPERATIONS);
  // The test would prove little if holds never failed.
  expect(failed).toBeGreaterThan(100);
  expect(failed).toBeLessThan(OPERATIONS / 10);
});

interface SimOperation extends OperationFacts {
  id: string;
  steps: Step[];
  wallets: string[];
  /** On the chain this destination is blocked for ever. */
  hopeless: boolean;
  transaction: SimTransaction | null;
}

interface SimTransaction {
  nonce: number;
  operations: { id: string; steps: Step[]; validBefore: bigint }[];
  state: "OPEN" | "OVER";
}

interface Snapshot {
  balances: Map<string, bigint>;
  used: Set<string>;
  executed: Set<string>;
  nonce: number;
}

interface Block {
  after: Snapshot;
  time: bigint;
  executed: string[];
  refused: string[];
  mined: SimTransaction[];
  usedByStrangers: string[];
}

interface World {
  random: () => number;
  operations: SimOperation[];
  byId: Map<string, SimOperation>;
  nextNonce: number;
  epoch: number;
  transactions: SimTransaction[];
  /** Transactions that nodes have. */
  pool: Set<SimTransaction>;
  /** In blocks, final or not. */
  mined: Set<SimTransaction>;
  blocks: Block[];
  /** No block up to here is ever taken back. */
  final: number;
  cursor: number;
  knownUsed: Set<string>;
  expected: Map<string, bigint>;
  calm: boolean;
}

function simulate(seed: number): World {
  const world = makeWorld(seed);
  let writers = [writer(world, world.epoch)];
  for (let turn = 0; turn < 4_000; turn += 1) {
    const { random } = world;
    world.calm = turn > 250;
    if (!world.calm && random() < 0.05) {
      // The lease changes hands. The old writer is dead, or continues later where it stopped.
      world.epoch += 1;
      writers = [writer(world, world.epoch), ...(random() < 0.5 ? writers.slice(0, 1) : [])];
    }
    if (!world.calm && random() < 0.05) writers[0] = writer(world, world.epoch);
    for (const one of writers) one.next();
    if (random() < 0.4) mine(world);
    if (!world.calm && random() < 0.05) reorganise(world);
    if (!world.calm && random() < 0.05) world.pool.clear();
    if (!world.calm && random() < 0.03) useKeyFromOutside(world);
    if (world.operations.every(({ state }) => state === "CONFIRMED" || state === "FAILED")) break;
  }
  return world;
}

function verdict(world: World): string[] {
  const { after } = world.blocks.at(-1)!;
  const open = world.operations.filter(({ state }) => state !== "CONFIRMED" && state !== "FAILED");
  const wrong = open.map(({ id, state }) => `${id.slice(0, 8)} is ${state}`);
  for (const { id, state, steps } of world.operations) {
    const happened = steps.every(
      (step) => step.fromWalletId === null || after.used.has(`${step.fromWalletId}|${step.nonce}`),
    );
    if (state === "FAILED" && (happened || after.executed.has(id)))
      wrong.push(`${id.slice(0, 8)} failed and was paid`);
    if (state === "FAILED") undo(world.expected, steps);
  }
  for (const [account, amount] of world.expected) {
    const actual = after.balances.get(account) ?? 0n;
    if (actual !== amount) wrong.push(`${account} has ${actual} and should have ${amount}`);
  }
  return wrong;
}

/**
 * One writer: plans, sends, watches, reads final blocks, expires holds. It may stop for good at
 * every yield.
 */
function* writer(world: World, epoch: number): Generator<void, void, void> {
  const holds = () => world.epoch === epoch;
  for (;;) {
    yield;
    if (holds()) plan(world);
    yield;
    const { time } = world.blocks.at(-1)!;
    const isAlive = ({ endsAt }: SimOperation) => endsAt === null || endsAt > time;
    const batch = world.operations.filter((one) => one.state === "PLANNED" && isAlive(one)).slice(0, 20);
    if (batch.length > 0 && world.transactions.filter(({ state }) => state === "OPEN").length < 4) {
      yield* send(world, holds, batch);
    }
    for (const transaction of world.transactions.filter(({ state }) => state === "OPEN")) {
      yield;
      watch(world, holds, transaction);
    }
    yield;
    scan(world);
    yield;
    giveUp(world);
  }
}

function plan(world: World): void {
  const waiting = world.operations.filter(({ state }) => state === "WAITING");
  const queue = waiting.map((operation) => ({
    ...{ operation, wallets: operation.wallets },
    isStuck: !world.calm && world.random() < 0.05,
  }));
  for (const { operation } of planQueue(queue, 40).planned) operation.state = "PLANNED";
}

function* send(world: World, holds: () => boolean, batch: SimOperation[]): Generator<void, void, void> {
  const chain = world.blocks.at(-1)!;
  const operations = batch.map(({ id, steps, endsAt }) => ({
    id,
    steps: steps.filter((step) => !world.knownUsed.has(`${step.fromWalletId}|${step.nonce}`)),
    validBefore: endsAt ?? chain.time + 1_000n,
  }));
  const chainNonce = chain.after.nonce;
  yield;
  // One database transaction: the fence, the nonce, the signed bytes and the carried operations.
  if (!holds() || batch.some(({ state }) => state !== "PLANNED")) return;
  const nonce = Math.max(world.nextNonce, chainNonce);
  const transaction: SimTransaction = { nonce, operations, state: "OPEN" };
  world.nextNonce = nonce + 1;
  world.transactions.push(transaction);
  for (const operation of batch) {
    operation.state = "IN_FLIGHT";
    operation.attempts += 1;
    operation.transaction = transaction;
  }
  yield;
  if (world.calm || world.random() < 0.8) world.pool.add(transaction);
}

function watch(world: World, holds: () => boolean, transaction: SimTransaction): void {
  const latest = world.blocks.at(-1)!.after.nonce;
  if (world.mined.has(transaction)) return;
  if (transaction.nonce < finalBlock(world).after.nonce) {
    if (holds()) over(world, transaction, "nonce_taken");
    return;
  }
  // Any holder of the bytes may send them, also a replaced writer.
  world.pool.add(transaction);
  for (let nonce = latest; nonce < world.nextNonce && holds(); nonce += 1) {
    if (world.transactions.some((other) => other.nonce === nonce)) continue;
    const filler: SimTransaction = { nonce, operations: [], state: "OPEN" };
    world.transactions.push(filler);
    world.pool.add(filler);
  }
}

function over(world: World, transaction: SimTransaction, reason: "not_executed" | "nonce_taken"): void {
  transaction.state = "OVER";
  for (const operation of world.operations)
    if (operation.transaction === transaction) follow(operation, { kind: "not_carried", reason });
}

function scan(world: World): void {
  const last = world.blocks.indexOf(finalBlock(world));
  for (; world.cursor < last; world.cursor += 1) {
    const block = world.blocks[world.cursor + 1]!;
    for (const key of block.usedByStrangers) world.knownUsed.add(key);
    for (const id of block.executed) follow(world.byId.get(id)!, { kind: "executed" });
    for (const id of block.refused) {
      const { steps } = world.byId.get(id)!;
      const settled = steps.every((step) => world.knownUsed.has(`${step.fromWalletId}|${step.nonce}`));
      follow(world.byId.get(id)!, { kind: "refused", reason: "refused", settled });
    }
    for (const transaction of block.mined) over(world, transaction, "not_executed");
  }
}

function giveUp(world: World): void {
  const { time, after } = world.blocks[world.cursor]!;
  for (const operation of world.operations) {
    const [step] = operation.steps;
    if (operation.endsAt === null || operation.state === "WAITING") continue;
    const used = after.executed.has(operation.id) || after.used.has(`${step!.fromWalletId}|${step!.nonce}`);
    const settled = world.knownUsed.has(`${step!.fromWalletId}|${step!.nonce}`);
    follow(operation, { kind: "looked_up", blockTime: time, used, settled });
  }
}

function follow(operation: SimOperation, evidence: Evidence): void {
  const next = decideNext(operation, evidence);
  if (next.do === "confirm") operation.state = "CONFIRMED";
  if (next.do === "fail") operation.state = "FAILED";
  if (next.do === "retry") operation.state = "PLANNED";
}

function finalBlock(world: World): Block {
  world.final = Math.max(world.final, world.blocks.length - 1 - FINALITY);
  return world.blocks[world.final]!;
}

function copy({ balances, used, executed, nonce }: Snapshot): Snapshot {
  return { balances: new Map(balances), used: new Set(used), executed: new Set(executed), nonce };
}

/** The contract: each operation completely or not at all, each once. */
function mine(world: World): void {
  const before = world.blocks.at(-1)!;
  const empty = world.pool.size === 0;
  const after = empty ? before.after : copy(before.after);
  const block: Block = {
    after,
    time: before.time + 1n,
    executed: [],
    refused: [],
    mined: [],
    usedByStrangers: [],
  };
  if (!empty && !world.calm && world.random() < 0.3) frontRun(world, block);
  for (;;) {
    const next = [...world.pool].find(({ nonce }) => nonce === after.nonce);
    if (!next) break;
    world.pool.delete(next);
    after.nonce += 1;
    block.mined.push(next);
    world.mined.add(next);
    for (const operation of next.operations) execute(world, block, operation);
  }
  for (const stale of world.pool) if (stale.nonce < after.nonce) world.pool.delete(stale);
  world.blocks.push(block);
}

function execute(
  world: World,
  block: Block,
  { id, steps, validBefore }: SimTransaction["operations"][number],
): void {
  const { after } = block;
  if (after.executed.has(id)) return void block.executed.push(id);
  const balances = new Map(after.balances);
  const possible =
    steps.length > 0 &&
    block.time < validBefore &&
    !world.byId.get(id)!.hopeless &&
    steps.every((step) => !after.used.has(`${step.fromWalletId}|${step.nonce}`) && move(balances, step));
  if (!possible) return void block.refused.push(id);
  after.balances = balances;
  after.executed.add(id);
  for (const { fromWalletId, nonce } of steps)
    if (fromWalletId !== null) after.used.add(`${fromWalletId}|${nonce}`);
  block.executed.push(id);
}

/** A stranger may submit an authorization from our transaction. */
function frontRun(world: World, block: Block): void {
  const [transaction] = world.pool;
  for (const { id, steps, validBefore } of transaction?.operations ?? []) {
    if (world.random() < 0.5) continue;
    const step = steps.find(({ fromWalletId }) => fromWalletId !== null);
    const key = step && `${step.fromWalletId}|${step.nonce}`;
    if (!step || block.after.used.has(key!) || block.time >= validBefore || world.byId.get(id)!.hopeless)
      continue;
    if (step.kind === "BURN" || !move(block.after.balances, step)) continue;
    block.after.used.add(key!);
    block.usedByStrangers.push(key!);
  }
}

function reorganise(world: World): void {
  finalBlock(world);
  const depth = Math.min(1 + Math.floor(world.random() * FINALITY), world.blocks.length - 1 - world.final);
  for (const { mined } of world.blocks.splice(world.blocks.length - depth, depth))
    for (const transaction of mined) {
      world.mined.delete(transaction);
      if (world.random() < 0.5) world.pool.add(transaction);
    }
}

function useKeyFromOutside(world: World): void {
  const before = world.blocks.at(-1)!;
  const after = copy(before.after);
  after.nonce += 1;
  world.blocks.push({
    ...before,
    after,
    time: before.time + 1n,
    executed: [],
    refused: [],
    mined: [],
    usedByStrangers: [],
  });
}

function undo(expected: Map<string, bigint>, steps: Step[]): void {
  for (const { fromWalletId, toAddress, amountWon } of steps) {
    expected.set(fromWalletId!, expected.get(fromWalletId!)! + amountWon);
    expected.set(toAddress!, expected.get(toAddress!)! - amountWon);
  }
}

function makeWorld(seed: number): World {
  const random = seeded(seed);
  const { posted, balances } = randomOperations(random, {
    count: PER_WORLD,
    wallets: WALLETS,
    outside: OUTSIDE,
  });
  const operations = posted.map(({ holdNumber, ...operation }): SimOperation => {
    const fresh = { state: "WAITING", attempts: 0, transaction: null } as const;
    if (holdNumber === null) return { ...fresh, ...operation, endsAt: null, hopeless: false };
    // Not before the operations ahead of it may have gone.
    const endsAt = END + BigInt(Math.floor(random() * 150));
    return { ...fresh, ...operation, endsAt, hopeless: random() < 0.3 };
  });
  const genesis = {
    balances: new Map<string, bigint>(),
    used: new Set<string>(),
    executed: new Set<string>(),
    nonce: 0,
  };
  return {
    ...{ random, operations, byId: new Map(operations.map((operation) => [operation.id, operation])) },
    ...{
      nextNonce: 0,
      epoch: 0,
      transactions: [],
      pool: new Set(),
      mined: new Set(),
      final: 0,
      cursor: 0,
    },
    ...{ knownUsed: new Set(), expected: balances, calm: false },
    blocks: [{ after: genesis, time: 0n, executed: [], refused: [], mined: [], usedByStrangers: [] }],
  };
}
