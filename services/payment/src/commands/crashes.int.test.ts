import { randomUUID } from "node:crypto";
import { catchUp, confirmed, deliver } from "./testing/events";
import { crashAt } from "./testing/failpoints";
import { cancelCharge, cancelPayment, charge, type Command, pay, refund, transfer } from "./testing/commands";
import { openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// All processes are killed at a named step of each command. The client's retry with the same key
// then finds one effect, or makes it. WONRAIL_DEEP repeats each crash five times.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const REPEATS = process.env.WONRAIL_DEEP === undefined ? 1 : 5;
/** Steps before and after the ledger's commit. */
const BEFORE = ["payment.posting", "ledger.before_commit"];
const AFTER = ["ledger.committed", "payment.posted"];

interface Scene {
  command: Command;
  wallets: string[];
  /** Balances after one effect. */
  after: number[];
}

const scenes: Record<string, () => Promise<Scene>> = {
  async transfer() {
    const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    const wallets = [from.walletId, to.walletId];
    return { command: transfer(from.walletId, to.address, 1_000), wallets, after: [4_000, 1_000] };
  },
  async "outside transfer"() {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    return { command: transfer(walletId, OUTSIDE, 1_000), wallets: [walletId], after: [5_000] };
  },
  async charge() {
    const { walletId } = await world.openWallet();
    return { command: charge(walletId, 1_000), wallets: [walletId], after: [1_000] };
  },
  async cancelCharge() {
    const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
    return { command: cancelCharge(chargeId, 1_000), wallets: [walletId], after: [4_000] };
  },
  async refund() {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    return { command: refund(walletId), wallets: [walletId], after: [0] };
  },
  async pay() {
    const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    // Created beforehand, so that the ledger dies at the payment's entry and not at this account's.
    await world.openWallet({ type: "INCENTIVE", userId: payer.userId });
    const wallets = [payer.walletId, receiver.walletId];
    const command = pay(payer.walletId, receiver.walletId, 1_000, { incentive: 0 });
    return { command, wallets, after: [4_000, 1_000] };
  },
  async cancelPayment() {
    const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    const paid = await world.execute(pay(payer.walletId, receiver.walletId, 1_000, { incentive: 0 }));
    const wallets = [payer.walletId, receiver.walletId];
    return { command: cancelPayment(valueOf(paid, "payment").paymentId), wallets, after: [5_000, 0] };
  },
};

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(async () => {
  expect(await world.violations()).toEqual([]);
  await world.close();
});

const cases = Array.from({ length: REPEATS }).flatMap(() =>
  [...BEFORE, ...AFTER].flatMap((point) => Object.keys(scenes).map((name) => ({ point, name }))),
);

test.each(cases)(
  "$name has one effect when everything dies at $point and the client retries",
  async ({ point, name }) => {
    const { command, wallets, after } = await scenes[name]!();
    const key = randomUUID();
    await crashAt(world, point, () => world.execute(command, key));
    const answer = await world.execute(command, key);
    expect(answer.replayed).toBe(AFTER.includes(point));
    expect(await world.balances(...wallets)).toEqual(after);
    expect(await world.execute(command, key)).toEqual({ ...answer, replayed: true });
    expect(await world.balances(...wallets)).toEqual(after);
  },
  60_000,
);

test.each(["ledger.before_commit", "ledger.committed", "payment.hold_ended", "payment.projecting"])(
  "a confirmed outside transfer is posted once when everything dies at %s",
  async (point) => {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    const { transferId } = valueOf(await world.execute(transfer(walletId, OUTSIDE, 1_000)), "transfer");
    await catchUp(world);
    await deliver(world, confirmed(transferId));
    await crashAt(world, point, async () => {
      await world.app().settleTransfers();
      await catchUp(world);
    });
    for (let round = 0; round < 2; round += 1) {
      await world.app().settleTransfers();
      await catchUp(world);
    }
    expect(await world.balances(walletId)).toEqual([4_000]);
    const page = { limit: 5, offset: 0, after: null };
    const { items } = await world.app().listTransfers({ orgId: world.orgId, walletId, page });
    const read = await world.app().getTransfer({ orgId: world.orgId, id: transferId });
    expect(items).toEqual([read]);
    expect(read.status).toBe("TRANSFER_STATUS_COMPLETED");
  },
  60_000,
);
