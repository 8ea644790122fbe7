// A relayer that starts while no endpoint of the chain answers. It serves calls without the chain
// at once, and starts the rest when a checked endpoint answers.
import { sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { createRegistry } from "@wonrail/kit/metrics";
import { eventually, testLog } from "@wonrail/kit/testing";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { PaymentType, RecordStatus, RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { startRpcProxy, type RpcProxy } from "../support/rpcProxy";
import { openBook, readOperations } from "./support/book";
import { openWorld, type World } from "./support/world";

const patience = { timeoutMs: 60_000, intervalMs: 100 };

let world: World;
let proxy: RpcProxy;
let book: ReturnType<typeof openBook>;
let walletId: string;
let records: ReturnType<typeof openRecords>;

beforeAll(async () => {
  const port = await randomFreePort();
  world = await openWorld({
    relayerEnv: { GRPC_PORT: String(port) },
    rpcUrlsFor: async (url) => {
      proxy = await startRpcProxy(url, 1);
      away();
      return proxy.url;
    },
  });
  world.node.run(150);
  book = openBook(world);
  ({ walletId } = await book.openWallet("payer"));
  records = openRecords(port);
}, 240_000);
afterAll(async () => {
  records.close();
  await world.close();
  await proxy.close();
}, 120_000);

test("chain-relayer serves records, ingests entries and reports the chain's silence while the chain is away", async () => {
  const orgId = newId("org");
  const fields = {
    ...{ fromNetworkType: "WON_TESTNET", toNetworkType: "WON_TESTNET", amount: "1" },
    ...{ fromAddress: `0x${"1".repeat(40)}`, toAddress: `0x${"2".repeat(40)}` },
    ...{ paymentType: PaymentType.INSTANT, txHash: `0x${"3".repeat(64)}`, metadata: {} },
  };
  const { record } = await records.createRecord({ orgId, fields });
  const all = { status: RecordStatus.UNSPECIFIED, paymentType: PaymentType.UNSPECIFIED };
  expect((await records.listRecords({ orgId, ...all })).records.map(({ id }) => id)).toEqual([record!.id]);

  const [charge] = await post();
  // A replica that reaches the chain must not wait for this one's lease.
  expect(await world.relayerDb.query(sql`select from signers`)).toEqual([]);
  expect(await probe("/livez")).toBe(200);
  expect(await probe("/readyz")).toBe(200);
  expect(await metric("chain_head_age_seconds")).toBeGreaterThan(0);
  expect(await metric("hot_wallet_balance_wei")).toBeNull();
  await eventually(
    async () => expect(await metric('relay_open_operations{state="QUEUED"')).toBeGreaterThan(0),
    patience,
  );

  there();
  await eventually(async () => expect(await stateOf(charge!)).toBe("CONFIRMED"), patience);
  await eventually(async () => expect(await metric("hot_wallet_balance_wei")).toBeGreaterThan(0), patience);
  expect(await book.differences()).toEqual([]);
}, 240_000);

test("chain-relayer stops in time and in order while no endpoint answers", async () => {
  const [relayer] = world.relayers;
  await relayer!.stop();
  away();
  await relayer!.start();
  relayer!.signal("SIGTERM");
  expect(await relayer!.exited()).toEqual({ code: 0, signal: null });
}, 120_000);

test.each([
  ["is on another chain", {}, () => proxy.setFaults(["wrong_chain"])],
  ["has another token", { TOKEN_ADDRESS: `0x${"9".repeat(40)}` }, () => there()],
])(
  "an endpoint that answers at last and %s ends it, and nothing was sent",
  async (_what, env, answer) => {
    const [relayer] = world.relayers;
    away();
    await relayer!.start(env);
    const before = await sentSoFar();
    const [charge] = await post();
    await eventually(async () => expect(await queuedEntries()).toBeGreaterThan(0n), patience);
    answer();
    expect(await relayer!.exited()).toEqual({ code: 1, signal: null });
    expect([await stateOf(charge!), await sentSoFar()]).toEqual([undefined, before]);
  },
  240_000,
);

test("chain-relayer settles the backlog when the chain is back", async () => {
  there();
  await world.relayers[0]!.start();
  await eventually(async () => {
    expect(await queuedEntries()).toBe(0n);
    const states = (await readOperations(world)).map(({ state }) => state);
    expect(states).toEqual(states.map(() => "CONFIRMED"));
  }, patience);
  expect(await book.differences()).toEqual([]);
}, 120_000);

function away(): void {
  proxy.setFaults(["http_500"]);
  proxy.setRate(1);
}

function there(): void {
  proxy.setRate(0);
}

function post(): Promise<string[]> {
  return book.postMany([{ $case: "charge", value: { walletId, amountWon: "100" } }]);
}

/** Entries in the ledger's journal that the relayer knows of and has not pulled. */
async function queuedEntries(): Promise<bigint> {
  const { queued } = await world.relayerDb.one<{ queued: bigint }>(
    sql`select coalesce(sum(head_sequence - cursor_sequence), 0)::bigint as queued from settlement_queues`,
  );
  return queued;
}

async function stateOf(ledgerRef: string) {
  return (await readOperations(world)).find((one) => one.ledger_ref === ledgerRef)?.state;
}

async function sentSoFar(): Promise<unknown> {
  const known = await world.relayerDb.query(sql`select transaction_id from transactions`);
  return [known.length, await world.node.rpc("eth_getTransactionCount", [world.operator, "latest"])];
}

async function probe(path: string): Promise<number> {
  return (await fetch(`http://${world.relayers[0]!.ops}${path}`)).status;
}

/** Returns null for an absent metric. */
async function metric(start: string): Promise<number | null> {
  const text = await (await fetch(`http://${world.relayers[0]!.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(start));
  return line === undefined ? null : Number(line.split(" ").at(-1));
}

function openRecords(port: number) {
  const registry = createRegistry({ service: "test", version: "0", commit: "0" });
  const place = { name: "chain-relayer", address: `127.0.0.1:${port}`, defaultTimeoutMs: 20_000 };
  return createClient(RelayerServiceService, { ...place, log: testLog(), registry });
}
