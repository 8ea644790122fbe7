import { randomUUID } from "node:crypto";
import { type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { OperationConfirmed } from "@wonrail/proto/relayer/events/v1/events";
import { deliver, published } from "./testing/events";
import { dieAt } from "./testing/failpoints";
import { type Command, complete, openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// All processes die at a named step of each command. Afterwards the client's own retry finds, or the completer makes, exactly one effect.
// WONRAIL_DEEP repeats each crash five times.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const REPEATS = process.env.WONRAIL_DEEP === undefined ? 1 : 5;
const POINTS = [
  "payment.claiming",
  "payment.claimed",
  "ledger.before_commit",
  "ledger.committed",
  "payment.posted",
  "payment.recording",
  "payment.recorded",
];

interface Scene {
  command: Command;
  wallets: string[];
  /** When it has happened once. */
  after: number[];
  /** What is told of it, in all. */
  events: string[];
}

const none = { memo: undefined };
const pay = (payerWalletId: string, receiverWalletId: string): Command => ({
  $case: "pay",
  value: { payerWalletId, receiverWalletId, amountWon: "1000", incentiveAmountWon: "0", ...none },
});

const scenes: Record<string, () => Promise<Scene>> = {
  async transfer() {
    const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    return {
      command: transfer(from.walletId, to.address),
      wallets: [from.walletId, to.walletId],
      after: [4_000, 1_000],
      events: ["transfer_completed 1"],
    };
  },
  async "outside transfer"() {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    return {
      command: transfer(walletId, OUTSIDE),
      wallets: [walletId],
      after: [5_000],
      events: ["transfer_held 1"],
    };
  },
  async charge() {
    const { walletId } = await world.openWallet();
    const command: Command = { $case: "charge", value: { walletId, amountWon: "1000", ...none } };
    return { command, wallets: [walletId], after: [1_000], events: ["charge_completed 1"] };
  },
  async cancelCharge() {
    const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
    const command: Command = { $case: "cancelCharge", value: { chargeId, amountWon: "1000", ...none } };
    return {
      command,
      wallets: [walletId],
      after: [4_000],
      events: ["charge_completed 1", "charge_cancelled 2"],
    };
  },
  async refund() {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    const command: Command = { $case: "refund", value: { walletId, ...none } };
    return { command, wallets: [walletId], after: [0], events: ["refund_completed 1"] };
  },
  async pay() {
    const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    // There already, so that the ledger dies of the payment's entry and not of this account's.
    await world.openWallet({ type: "INCENTIVE", userId: payer.userId });
    return {
      command: pay(payer.walletId, receiver.walletId),
      wallets: [payer.walletId, receiver.walletId],
      after: [4_000, 1_000],
      events: ["payment_completed 1"],
    };
  },
  async cancelPayment() {
    const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    const paid = await world.execute(pay(payer.walletId, receiver.walletId));
    const { paymentId } = valueOf(paid, "payment");
    return {
      command: { $case: "cancelPayment", value: { paymentId, ...none } },
      wallets: [payer.walletId, receiver.walletId],
      after: [5_000, 0],
      events: ["payment_completed 1", "payment_cancelled 2"],
    };
  },
};

function transfer(fromWalletId: string, toWalletAddress: string): Command {
  return { $case: "transfer", value: { fromWalletId, toWalletAddress, amountWon: "1000", ...none } };
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(async () => {
  expect(await world.violations()).toEqual([]);
  await world.close();
});

const cases = Array.from({ length: REPEATS }, (_, round) => round).flatMap((round) =>
  POINTS.flatMap((point, p) =>
    Object.keys(scenes).map((name, s) => {
      // Whoever comes first: the clock, or the client with the same key. Each point and each command meets both.
      const first = (p + s + round) % 2 === 0 ? "the completer" : "the client's retry";
      return { point, name, first };
    }),
  ),
);

test.each(cases)(
  "everything dies at $point of $name, and $first finds one effect or makes it",
  async ({ point, name, first }) => {
    const { command, wallets, after, events } = await scenes[name]!();
    const key = randomUUID();
    await dieAt(world, point, () => world.execute(command, key));
    if (first === "the completer") {
      await complete(world);
      // Before the claim is durable nothing was taken on, and nothing is done.
      if (point !== "payment.claiming") expect(await world.balances(...wallets)).toEqual(after);
    }
    const answer = await world.execute(command, key);
    expect(await world.balances(...wallets)).toEqual(after);
    expect(await world.execute(command, key)).toEqual({ ...answer, replayed: true });
    expect(await published(world, aggregateOf(answer))).toEqual(events);
    await complete(world);
    expect(await world.balances(...wallets)).toEqual(after);
  },
  60_000,
);

test.each(["ledger.before_commit", "ledger.committed", "payment.hold_ended", "payment.ending"])(
  "an outside transfer that the chain has confirmed is posted once when everything dies at %s",
  async (point) => {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    const held = await world.execute(transfer(walletId, OUTSIDE));
    const { transferId } = valueOf(held, "transfer");
    const word = { ledgerRef: transferId, network: "N", txHash: `0x${"b".repeat(64)}`, blockNumber: 3n };
    await deliver(
      world,
      "operation_confirmed",
      OperationConfirmed.encode(OperationConfirmed.fromPartial(word)).finish(),
    );
    await dieAt(world, point, () => world.app().settleTransfers());
    await world.app().settleTransfers();
    await world.app().settleTransfers();
    expect(await world.balances(walletId)).toEqual([4_000]);
    expect(await published(world, transferId)).toEqual([
      "transfer_held 1",
      "settlement_changed 0",
      "transfer_completed 2",
    ]);
  },
  60_000,
);

/** What its events are about. */
function aggregateOf({ outcome }: ExecuteResponse): string {
  switch (outcome?.$case) {
    case "transfer":
      return outcome.value.transferId;
    case "charge":
      return outcome.value.chargeId;
    case "cancelledCharge":
      return outcome.value.charge!.chargeId;
    case "refund":
      return outcome.value.refundId;
    case "payment":
      return outcome.value.paymentId;
    case "cancelledPayment":
      return outcome.value.payment!.paymentId;
    default:
      throw new Error(`no effect: ${JSON.stringify(outcome)}`);
  }
}
