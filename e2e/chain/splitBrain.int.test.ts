// A second copy of the whole system on a copy of its database, with the same keys and chain, as
// after a restore without stopping the original.
import { idAt, newId } from "@wonrail/kit/contract/ids";
import { eventually } from "@wonrail/kit/testing";
import { type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { seeded } from "@wonrail/kit/testing/random";
import { readChain } from "./support/audit";
import { NO_LIMIT, openBook, readOperations, untilSettled } from "./support/book";
import { openWorkload } from "./support/workload";
import { openWorld, type World, type WorldCopy } from "./support/world";

const WAITING = 40;
const AMOUNT_WON = "1000";
const UNITS = 1_000_000_000n;
const OUTSIDE = "0xde709f2102306220921060314715629080e2fb77";
const amount = { amountWon: AMOUNT_WON, dailyLimitWon: NO_LIMIT };

let world: World;
let copy: WorldCopy | undefined;

beforeAll(async () => {
  world = await openWorld({
    relayerEnv: { RESEND_AFTER_MS: "700", REPLACE_AFTER_MS: "1500", MAX_STEPS: "10" },
  });
  world.node.run(150);
}, 240_000);
afterAll(async () => {
  await copy?.close();
  await world.close();
}, 120_000);

test("two stacks with diverged histories pay each operation once, by whichever sends it first", async () => {
  const workload = await openWorkload(world, seeded(7));
  const book = openBook(world);
  const [payer, sender, one, other] = [
    await book.openWallet("payer"),
    await book.openWallet("sender"),
    await book.openWallet("one"),
    await book.openWallet("other"),
  ];
  // The sender could pay twice.
  for (const { walletId } of [payer, sender, sender])
    await book.post("chg", { $case: "charge", value: { walletId, amountWon: AMOUNT_WON } });
  await untilSettled(world, workload.posted() + 3);
  const [relayer] = world.relayers;
  await relayer!.stop();
  await workload.post(WAITING);
  copy = await world.copy();

  await Promise.all([relayer!.start(), start(copy)]);
  await untilSettled(world, workload.posted() + 3, 180_000);
  await untilSettled({ ...world, relayerDb: copy.relayerDb }, workload.posted() + 3, 180_000);
  expect(await wrong()).toEqual([]);
  expect(await workload.differences()).toEqual([]);

  // Each ledger transfers the whole balance to another wallet. Only one transfer can succeed on the
  // chain.
  await Promise.all([transfer(world.ledger, one.walletId), transfer(copy.ledger, other.walletId)]);
  await eventually(
    async () => expect((await balances(one.address)) + (await balances(other.address))).toBe(UNITS),
    {
      timeoutMs: 60_000,
    },
  );
  await untilBothQuiet(workload.posted() + 4);
  expect((await balances(one.address)) + (await balances(other.address))).toBe(UNITS);
  expect(await wrong()).toEqual([]);

  // A scheduled transfer has one id in both copies, and is paid once.
  const scheduled = idAt("trf", Date.now(), "rent");
  await Promise.all([send(world.ledger, scheduled), send(copy.ledger, scheduled)]);
  await eventually(async () => expect(await balances(OUTSIDE)).toBe(UNITS), { timeoutMs: 60_000 });
  await untilBothQuiet(workload.posted() + 5);
  expect(await balances(OUTSIDE)).toBe(UNITS);
  expect(await wrong()).toEqual([]);

  function transfer(ledger: World["ledger"], toWalletId: string) {
    const value = { fromWalletId: payer.walletId, toWalletId, toAddress: OUTSIDE, ...amount };
    return post(ledger, newId("trf"), { $case: "transfer", value });
  }

  function send(ledger: World["ledger"], requestId: string) {
    const value = { walletId: sender.walletId, toAddress: OUTSIDE, ...amount };
    return post(ledger, requestId, { $case: "placeHold", value });
  }

  function post(ledger: World["ledger"], requestId: string, intent: PostRequest["intent"]) {
    const context = { requestId: newId("req"), traceparent: "", orgId: book.orgId, deadline: undefined };
    const nothing = { metadata: {} };
    return ledger.post({ context, requestId, ...nothing, intent });
  }
}, 600_000);

async function start({ services }: WorldCopy): Promise<void> {
  for (const service of services) await service.start();
}

/** Waits until neither copy has open operations. */
async function untilBothQuiet(operations: number): Promise<void> {
  for (const relayerDb of [world.relayerDb, copy!.relayerDb])
    await eventually(
      async () => {
        const all = await readOperations({ ...world, relayerDb });
        expect(all).toHaveLength(operations);
        expect(all.filter(({ state }) => state === "IN_FLIGHT" || state === "WAITING")).toEqual([]);
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
}

/** Operations that were executed more than once. */
async function wrong(): Promise<[string, number][]> {
  const { executions, authorizations } = await readChain(world);
  return [...executions, ...authorizations].filter(([, times]) => times !== 1);
}

async function balances(address: string): Promise<bigint> {
  return (await readChain(world)).balances.get(address.toLowerCase()) ?? 0n;
}
