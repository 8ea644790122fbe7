import { createBenchClient, transferMessage } from "../ledger/replica";
import { closedLoop, type Measured } from "../loop";
import { atLeast, atMost, type Result, observed } from "../report";
import { withBareNode } from "./bareNode";
import { type Http, openHttp } from "./http";
import { lagAt, readLag } from "./projectionLag";
import { type Wallet, type World } from "./world";

const CONNECTIONS = [16, 64, 256];
const TARGET_CONNECTIONS = 64;
/** The target load is measured three times, because a single run depends on the machine's state. */
const CONNECTIONS_IN_ORDER = [TARGET_CONNECTIONS, 16, TARGET_CONNECTIONS, 256, TARGET_CONNECTIONS];

/** Sends one request and returns the status. */
export type Send = (http: Http, world: World) => Promise<number>;

export const SENDS = {
  payment: (http, { wallets }) =>
    http.send("POST", "/api/wallets/payment", paymentOf(...randomPair(wallets))),
  charge: (http, { wallets }) =>
    http.send("POST", "/api/wallets/charge", { walletId: randomPair(wallets)[0].walletId, amount: 1_000 }),
  transfer: (http, { wallets }) => {
    const [from, to] = randomPair(wallets);
    const body = { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount: 100 };
    return http.send("POST", "/api/wallets/transfer", body);
  },
} satisfies Record<string, Send>;

/** Runs the load before the measurement, so that V8 has compiled the hot code. */
export async function warmUp(world: World, seconds: number): Promise<void> {
  for (const send of Object.values(SENDS)) await loop(world, TARGET_CONNECTIONS, seconds, send, 201);
}

/** Cost of the same requests without work: at a Node server, the gateway and the ledger. */
export async function baselines(world: World, seconds: number) {
  const node = await withBareNode(async (url) => {
    const http = openHttp(url, {}, TARGET_CONNECTIONS);
    const work = async () => void (await http.send("POST", "/", { walletId: "any", amount: 999 }));
    const measured = await closedLoop({ callers: TARGET_CONNECTIONS, seconds, work });
    http.close();
    return measured;
  });
  const refused: Send = (http, { wallets }) =>
    http.send("POST", "/api/wallets/charge", { walletId: wallets[0]!.walletId, amount: 999 });
  const bare = await loop(world, TARGET_CONNECTIONS, seconds, refused, 400);
  const client = createBenchClient(world.ledgerAddress);
  const ledger = await closedLoop({
    callers: TARGET_CONNECTIONS,
    seconds,
    work: async () => {
      const [from, to] = randomPair(world.wallets);
      await client.coalesced(transferMessage(world.orgId, from.walletId, to.walletId));
    },
  });
  await client.close();
  const note = `answered by the gateway alone, after key, rate and input; ${latency(bare)}`;
  return {
    node: node.perSecond,
    bare: bare.perSecond,
    ledger: ledger.perSecond,
    results: [
      observed(
        "bare_node.rate",
        node.perSecond,
        "requests/s",
        "how fast the machine is: Node's HTTP server and no more",
      ),
      observed("bare_express.rate", bare.perSecond, "requests/s", note),
      observed("ledger_grpc.rate", ledger.perSecond, "transfers/s", latency(ledger)),
    ],
  };
}

type Baselines = Omit<Awaited<ReturnType<typeof baselines>>, "results">;

/**
 * Derived from the goal: 2,500 payments a second on a machine whose Node server answers 43,000
 * requests.
 */
const PAYMENTS_OF_BARE_NODE = 0.058;

export async function commands(world: World, seconds: number, base: Baselines) {
  const results: Result[] = [];
  const usual: Record<string, Measured> = {};
  for (const [name, send] of Object.entries(SENDS)) {
    const stretches = new Map(CONNECTIONS.map((connections) => [connections, [] as Measured[]]));
    for (const connections of CONNECTIONS_IN_ORDER)
      stretches.get(connections)!.push(await loop(world, connections, seconds, send, 201));
    usual[name] = median(stretches.get(TARGET_CONNECTIONS)!);
    for (const [connections, all] of stretches) {
      const rates = all.map(({ perSecond }) => perSecond.toFixed(0)).join(", ");
      const note = latency(median(all)) + (all.length > 1 ? `, the median of ${rates}` : "");
      results.push(observed(`${name}.rate_${connections}`, median(all).perSecond, "requests/s", note));
    }
    const { perSecond, p99Ms } = usual[name];
    const where = `${TARGET_CONNECTIONS} connections, settlement paused`;
    results.push(
      name === "payment"
        ? atLeast("payment.rate", perSecond, "requests/s", 2_500, where)
        : observed(`${name}.rate`, perSecond, "requests/s", where),
      atMost(`${name}.p99_ms`, p99Ms, "ms", 100),
      ...(name === "payment"
        ? [
            atLeast(
              "payment.vs_bare_node",
              perSecond / base.node,
              "×",
              PAYMENTS_OF_BARE_NODE,
              "as 2,500 to 43,000",
            ),
          ]
        : []),
      observed(`${name}.vs_bare_express`, perSecond / base.bare, "×"),
      observed(`${name}.vs_ledger_grpc`, perSecond / base.ledger, "×"),
    );
  }
  return { results, paymentRate: usual.payment!.perSecond, transferRate: usual.transfer!.perSecond };
}

/** By its rate. */
function median(stretches: Measured[]): Measured {
  return stretches.toSorted((one, other) => one.perSecond - other.perSecond)[stretches.length >> 1]!;
}

const TURNS = 5;

/** Compares payments between random users with payments to one receiver. */
export async function hotMerchant(world: World, seconds: number): Promise<Result[]> {
  const [merchant] = world.wallets;
  const toMerchant: Send = (http, { wallets }) => {
    const payer = wallets[1 + Math.floor(Math.random() * (wallets.length - 1))]!;
    return http.send("POST", "/api/wallets/payment", paymentOf(payer, merchant!));
  };
  const spread: Measured[] = [];
  const hot: Measured[] = [];
  // Measured in turns, because the machine's speed varies.
  for (let turn = 0; turn < TURNS; turn += 1) {
    spread.push(await loop(world, TARGET_CONNECTIONS, seconds / TURNS, SENDS.payment, 201));
    hot.push(await loop(world, TARGET_CONNECTIONS, seconds / TURNS, toMerchant, 201));
  }
  const rateOf = (all: Measured[]) => all.reduce((sum, { perSecond }) => sum + perSecond, 0) / TURNS;
  const note = `${rateOf(hot).toFixed(0)} and ${rateOf(spread).toFixed(0)} a second, in ${TURNS} turns`;
  return [atLeast("payment.hot_vs_spread", rateOf(hot) / rateOf(spread), "×", 0.9, note)];
}

/** CPU time of each process per payment. */
export async function costs(world: World, seconds: number): Promise<Result[]> {
  const before = await world.cpu();
  const { total } = await loop(world, TARGET_CONNECTIONS, seconds, SENDS.payment, 201);
  const after = await world.cpu();
  const usOf = (name: string) => ((after[name]! - (before[name] ?? 0)) / total) * 1e6;
  return Object.keys(after)
    .map((name) => observed(`payment.cpu.${name}`, usOf(name), "µs"))
    .filter(({ value }) => value >= 1)
    .sort((one, other) => other.value - one.value);
}

/** The chain's side has run for as long as is measured, too. */
export async function settling(world: World, seconds: number): Promise<Result[]> {
  await loop(world, TARGET_CONNECTIONS, seconds, SENDS.payment, 201);
  const before = await readLag(world.paymentOps);
  const measured = await loop(world, TARGET_CONNECTIONS, seconds, SENDS.payment, 201);
  const lag = lagAt(0.99, before, await readLag(world.paymentOps));
  const lagNote = "age of the oldest event of a batch when payment writes it, upper bound of the bucket";
  return [
    atLeast("payment.rate_settling", measured.perSecond, "requests/s", 1_000, latency(measured)),
    atMost("payment.projection_lag_p99_s", lag, "s", 1, lagNote),
  ];
}

async function loop(
  world: World,
  connections: number,
  seconds: number,
  send: Send,
  wanted: number,
): Promise<Measured> {
  const http = world.open(connections);
  const work = async () => {
    const status = await send(http, world);
    if (status !== wanted) throw new Error(`answered ${status}`);
  };
  const measured = await closedLoop({ callers: connections, seconds, work });
  http.close();
  return measured;
}

export function paymentOf(payer: Wallet, receiver: Wallet, amount = 100): object {
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  return { ...ids, amount, incentiveAmount: 0 };
}

function randomPair(wallets: Wallet[]): [Wallet, Wallet] {
  const one = Math.floor(Math.random() * wallets.length);
  const other = (one + 1 + Math.floor(Math.random() * (wallets.length - 1))) % wallets.length;
  return [wallets[one]!, wallets[other]!];
}

function latency({ p50Ms, p99Ms, failed }: Measured): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms${failed > 0 ? `, ${failed} FAILED` : ""}`;
}
