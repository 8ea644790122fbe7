import { won } from "@wonrail/kit/contract/money";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { compare } from "../compare";
import { cpuSeconds } from "../cpu";
import { closedLoop, type Measured } from "../loop";
import { atLeast, atMost, observed, type Result } from "../report";
import { bareInsertRate } from "./bareInsert";
import { type BenchReplica, createBenchClient, startBenchReplica, transferMessage } from "./replica";
import { tpcbRate } from "./tpcb";
import { openWallets, randomPair, transferIntent, type World } from "./world";

export interface Plan {
  seconds: number;
  rounds: number;
  /** How deep into a statement is read. */
  pages: number;
  /** Duration of sustained load before the memory figure. */
  memorySeconds: number;
}

/** Callers in this process: twice a batch, so that a next batch is always ready. */
const IN_PROCESS_CALLERS = 2_000;
const REMOTE_CALLERS = 64;

export async function transfers(
  world: World,
  seconds: number,
  pick: () => [string, string] = () => randomPair(world.wallets),
  { warmUpSeconds = 0.5, callers = IN_PROCESS_CALLERS } = {},
): Promise<Measured> {
  return closedLoop({
    callers,
    seconds,
    warmUpSeconds,
    work: async () => void (await world.post(transferIntent(...pick()))),
  });
}

export async function engineSection(world: World, { seconds, rounds }: Plan): Promise<Result[]> {
  const rate = async () => (await transfers(world, seconds)).perSecond;
  let by = "";
  const tpcb = await compare(rounds, rate, async () => {
    const measured = await tpcbRate(world, seconds);
    by = measured.by;
    return measured.perSecond;
  });
  const bare = await compare(rounds, rate, () => bareInsertRate(world, seconds));
  const wal = await walPerTransfer(world, seconds, rounds);
  return [
    observed(
      "engine.rate",
      bare.first,
      "transfers/s",
      `random pairs of ${world.wallets.length} accounts, in process`,
    ),
    atLeast("engine.vs_tpcb", tpcb.ratio, "×", 4, `${Math.round(tpcb.second)}/s by ${by}`),
    atLeast("engine.vs_unnest", bare.ratio, "×", 0.6, `${Math.round(bare.second)}/s bare inserts`),
    atMost("wal.bytes", wal, "bytes/transfer", 1_200, "of everything, full-page images included"),
  ];
}

/** Enough transfers that full-page writes after a checkpoint are a small part of the log. */
const WAL_TRANSFERS_A_ROUND = 35_000;
const LONGEST_WAL_SECONDS = 60;

async function walPerTransfer(world: World, seconds: number, rounds: number): Promise<number> {
  const before = await world.walBytes();
  let count = 0;
  const wanted = rounds * WAL_TRANSFERS_A_ROUND;
  for (let spent = 0; spent < LONGEST_WAL_SECONDS && count < wanted; spent += seconds) {
    count += (await transfers(world, seconds, undefined, { warmUpSeconds: 0 })).total;
  }
  return Number((await world.walBytes()) - before) / count;
}

export async function hotSection(world: World, { seconds, rounds }: Plan): Promise<Result[]> {
  const [merchant, second] = [world.wallets[0]!, world.wallets[1]!];
  const others = world.wallets.slice(1);
  const any = () => others[Math.floor(Math.random() * others.length)]!;
  const spread = async () => (await transfers(world, seconds)).perSecond;
  const hot = (pick: () => [string, string]) => async () => (await transfers(world, seconds, pick)).perSecond;
  const receiver = await compare(
    rounds,
    hot(() => [any(), merchant]),
    spread,
  );
  const payer = await compare(
    rounds,
    hot(() => [merchant, any()]),
    spread,
  );
  const pingPong = await compare(
    rounds,
    hot(() => (Math.random() < 0.5 ? [merchant, second] : [second, merchant])),
    spread,
  );
  return [
    atLeast(
      "hot.vs_spread",
      receiver.ratio,
      "×",
      0.95,
      `all to one merchant: ${Math.round(receiver.first)}/s`,
    ),
    observed("hot.payer_vs_spread", payer.ratio, "×", "all from one account"),
    observed("hot.ping_pong_vs_spread", pingPong.ratio, "×", "between two accounts"),
  ];
}

export async function paymentSection(world: World, { seconds, rounds }: Plan): Promise<Result[]> {
  const users = 1_000;
  const [normal] = await Promise.all([
    openWallets(world, users, "NORMAL", "payer"),
    openWallets(world, users, "INCENTIVE", "payer"),
    openWallets(world, users, "GOVERNMENT", "payer"),
  ]);
  const pay = async () => {
    const measured = await closedLoop({
      callers: IN_PROCESS_CALLERS,
      seconds,
      work: async () => {
        const payerWalletId = normal[Math.floor(Math.random() * users)]!;
        const receiverWalletId = world.wallets[Math.floor(Math.random() * world.wallets.length)]!;
        const amounts = { amountWon: won(1_000n), incentiveAmountWon: won(300n), accrualRateBps: 100 };
        await world.post({ kind: "payment", payerWalletId, receiverWalletId, ...amounts });
      },
    });
    return measured.perSecond;
  };
  const compared = await compare(rounds, pay, async () => (await transfers(world, seconds)).perSecond);
  const note = `${Math.round(compared.first)}/s: three wallets, 5 postings, accrual`;
  return [atLeast("payment.vs_transfer", compared.ratio, "×", 0.5, note)];
}

export async function grpcSection(world: World, { seconds, rounds, memorySeconds }: Plan): Promise<Result[]> {
  const replica = await startBenchReplica(world.url);
  const [client, ceiling] = [createBenchClient(replica.address), createBenchClient(replica.ceilingAddress)];
  const loop = (callers: number, forSeconds: number, call: (request: PostRequest) => Promise<unknown>) =>
    closedLoop({
      callers,
      seconds: forSeconds,
      work: async () => void (await call(transferMessage(world.orgId, ...randomPair(world.wallets)))),
    });
  try {
    let coalesced: Measured | undefined;
    const compared = await compare(
      rounds,
      async () => (coalesced = await loop(REMOTE_CALLERS, seconds, client.coalesced)).perSecond,
      async () => (await loop(REMOTE_CALLERS, seconds, ceiling.coalesced)).perSecond,
    );
    // As many callers make batches of the same size.
    const engine = await compare(
      rounds,
      async () => (await loop(REMOTE_CALLERS, seconds, client.coalesced)).perSecond,
      async () => (await transfers(world, seconds, undefined, { callers: REMOTE_CALLERS })).perSecond,
    );
    const unary = await loop(REMOTE_CALLERS, seconds, (request) => client.unary(request));
    const wide = await loop(512, seconds, client.coalesced);
    const costs = await costsOf(replica, () => loop(REMOTE_CALLERS, seconds, client.coalesced));
    const memory = await memoryUnderLoad(
      () => loop(512, 1, client.coalesced),
      async () => (await replica.use()).memoryMb,
      memorySeconds,
    );
    return [
      atLeast("grpc.rate", compared.first, "transfers/s", 12_000, latency(coalesced!)),
      atLeast(
        "grpc.vs_ceiling",
        compared.ratio,
        "×",
        0.5,
        `the transport alone: ${Math.round(compared.second)}/s`,
      ),
      atLeast(
        "grpc.vs_engine",
        engine.ratio,
        "×",
        0.5,
        `the engine in process, ${REMOTE_CALLERS} callers: ${Math.round(engine.second)}/s`,
      ),
      observed("grpc.unary_rate", unary.perSecond, "transfers/s", latency(unary)),
      observed("grpc.rate_512", wide.perSecond, "transfers/s", `512 callers, ${latency(wide)}`),
      ...costs,
      atMost("memory.mb", memory.highest, "MB", 250, `after ${memorySeconds} s of load; ${memory.note}`),
    ];
  } finally {
    await Promise.all([client.close(), ceiling.close()]);
    await replica.stop();
  }
}

/** CPU time of each process per transfer under the coalesced load. */
async function costsOf(replica: BenchReplica, load: () => Promise<Measured>): Promise<Result[]> {
  const measure = async () => ({ own: cpuSeconds(), replica: (await replica.use()).cpuSeconds });
  const before = await measure();
  const { total } = await load();
  const after = await measure();
  const cost = (name: string, seconds: number) => observed(`grpc.cpu.${name}`, (seconds / total) * 1e6, "µs");
  return [
    cost("callers", after.own.node - before.own.node),
    cost("ledger", after.replica - before.replica),
    cost("postgres", after.own.postgres - before.own.postgres),
  ];
}

function latency({ p50Ms, p99Ms, failed }: Measured): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms${failed > 0 ? `, ${failed} FAILED` : ""}`;
}

async function memoryUnderLoad(
  load: () => Promise<unknown>,
  memoryMb: () => Promise<number>,
  seconds: number,
): Promise<{ highest: number; note: string }> {
  const samples: number[] = [];
  const endMs = Date.now() + seconds * 1000;
  while (Date.now() < endMs) {
    await load();
    samples.push(await memoryMb());
  }
  const half = samples.length >> 1;
  const [early, late] = [Math.max(...samples.slice(0, half), 0), Math.max(...samples.slice(half))];
  return {
    highest: Math.max(early, late),
    note: `highest in the first half ${early.toFixed(0)}, in the second ${late.toFixed(0)}`,
  };
}
