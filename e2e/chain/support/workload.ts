import { newId } from "@wonrail/kit/contract/ids";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { pick } from "@wonrail/kit/testing/random";
import { NO_LIMIT, openBook, type TestWallet } from "./book";
import { type World } from "./world";

export interface Workload {
  post(count: number): Promise<void>;
  /** Number of operations that the posted intents create. */
  posted(): number;
  differences(): Promise<string[]>;
}

const OUTSIDE = "0x00000000000000000000000000000000000B0B00";

/** Two organisations whose users charge, pay, transfer, cancel, refund and send money outside. */
export async function openWorkload(world: World, random: () => number): Promise<Workload> {
  const books = [openBook(world, newId("org")), openBook(world, newId("org"))];
  const users = new Map<string, TestWallet[]>();
  for (const book of books) {
    const wallets: TestWallet[] = [];
    for (let user = 0; user < 5; user += 1) {
      wallets.push(await book.openWallet(`user-${user}`));
      await book.openWallet(`user-${user}`, WalletType.INCENTIVE);
    }
    users.set(book.orgId, wallets);
    await book.postMany(
      wallets.map(({ walletId }) => ({ $case: "charge", value: { walletId, amountWon: "10000000" } })),
    );
  }

  async function postOne(): Promise<void> {
    const book = pick(random, books);
    const wallets = users.get(book.orgId)!;
    const [from, to] = [pick(random, wallets), pick(random, wallets)];
    const amountWon = String(1_000 + Math.floor(random() * 5_000));
    const chance = random();
    if (from === to || chance < 0.15) {
      await book.post("chg", { $case: "charge", value: { walletId: from.walletId, amountWon } });
    } else if (chance < 0.2) {
      const chargeRequestId = await book.post("chg", {
        $case: "charge",
        value: { walletId: from.walletId, amountWon },
      });
      await book.post("ccl", { $case: "cancelCharge", value: { chargeRequestId, amountWon: "500" } });
    } else if (chance < 0.25) {
      const hold = { walletId: from.walletId, amountWon, dailyLimitWon: NO_LIMIT, toAddress: OUTSIDE };
      await book.post("hld", { $case: "placeHold", value: hold });
    } else if (chance < 0.6) {
      const value = { fromWalletId: from.walletId, toWalletId: to.walletId, amountWon };
      await book.post("trf", { $case: "transfer", value: { ...value, dailyLimitWon: NO_LIMIT } });
    } else {
      const paymentRequestId = await book.post("pay", {
        $case: "payment",
        value: {
          payerWalletId: from.walletId,
          receiverWalletId: to.walletId,
          amountWon,
          incentiveAmountWon: undefined,
          accrualRateBps: 100,
        },
      });
      const part = { paymentRequestId, amountWon: "777" };
      if (chance < 0.68) await book.post("pcl", { $case: "cancelPayment", value: { paymentRequestId } });
      else if (chance < 0.76) await book.post("prf", { $case: "refundPayment", value: part });
    }
  }

  return {
    async post(count) {
      for (let posted = 0; posted < count; posted += 1) await postOne();
    },
    posted: () => books.reduce((sum, book) => sum + book.posted(), 0),
    async differences() {
      return (await Promise.all(books.map((book) => book.differences()))).flat();
    },
  };
}
