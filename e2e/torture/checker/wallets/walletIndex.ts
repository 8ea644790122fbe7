import { type PaymentParts } from "../moneyRules";
import { successesOf, type Json, type Operation } from "../operations";
import { type WalletType } from "./purses";

export interface Wallet {
  walletId: string;
  organisation: string;
  /** The organisation and its user: the wallets of a user are checked together. */
  user: string;
  type: WalletType;
  address: string;
}

/** The constant facts that operations refer to. */
export interface Index {
  walletOf(walletId: string | null | undefined): Wallet | undefined;
  walletAt(organisation: string, address: string): Wallet | undefined;
  charges: Map<string, { wallet: Wallet; amount: number }>;
  payments: Map<string, { payer: Wallet; receiver: Wallet; amount: number; parts: PaymentParts }>;
  /** True: the ledger may have frozen a wallet of the user at some time. */
  mayBeFrozen(user: string): boolean;
  rateBps(organisation: string): number;
}

export interface IndexFacts {
  wallets: Wallet[];
  /** Wallets that were ever frozen. */
  frozenWallets: ReadonlySet<string>;
  rateBps(organisation: string): number;
}

export function indexOperations(operations: Operation[], facts: IndexFacts): Index {
  const { wallets, frozenWallets, rateBps } = facts;
  const byId = new Map(wallets.map((wallet) => [wallet.walletId, wallet]));
  const byAddress = new Map(wallets.map((wallet) => [placeOf(wallet.organisation, wallet.address), wallet]));
  const frozenUsers = new Set([...frozenWallets].map((id) => byId.get(id)?.user));
  const index: Index = {
    walletOf: (walletId) => byId.get(walletId ?? ""),
    walletAt: (organisation, address) => byAddress.get(placeOf(organisation, address)),
    charges: new Map(),
    payments: new Map(),
    mayBeFrozen: (user) => frozenUsers.has(user),
    rateBps,
  };
  for (const { data } of successesOf(operations, "charge", "charge.cancel")) addCharge(index, data);
  for (const { data } of successesOf(operations, "payment", "payment.cancel", "payment.refund"))
    addPayment(index, data);
  return index;
}

function placeOf(organisation: string, address: string): string {
  return `${organisation} ${address.toLowerCase()}`;
}

function addCharge({ walletOf, charges }: Index, { chargeId, walletId, amount }: Json): void {
  const wallet = walletOf(walletId);
  if (wallet) charges.set(chargeId, { wallet, amount });
}

function addPayment({ walletOf, payments }: Index, data: Json): void {
  const { paymentId, payerWalletId, receiverWalletId, amount, breakdown, incentiveAccrued } = data;
  const [payer, receiver] = [walletOf(payerWalletId), walletOf(receiverWalletId)];
  if (!payer || !receiver) return;
  const { incentive, normal } = breakdown;
  payments.set(paymentId, {
    payer,
    receiver,
    amount,
    parts: { incentive, normal, accrued: incentiveAccrued },
  });
}
