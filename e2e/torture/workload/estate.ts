import { type OperationName } from "../history";

/** Objects of an organisation, as answers showed them. All clients of the organisation share it. */
export interface Estate {
  /** Wallets of type NORMAL. The first ones are hot. */
  wallets: Wallet[];
  /** Empty wallets without a part in any other operation, to be deactivated. */
  spares: Wallet[];
  charges: string[];
  payments: string[];
  transfers: string[];
  records: string[];
  keys: string[];
  webhooks: string[];
  /** The NORMAL wallet that was read last. */
  lastRead: { walletId: string; availableBalance: number } | undefined;
}

export interface Wallet {
  walletId: string;
  walletAddress: string;
}

/** Fields of the answers that later operations use. */
interface Learned extends Wallet {
  userId: string;
  walletType: string;
  availableBalance: number;
  chargeId: string;
  paymentId: string;
  transferId: string;
  id: string;
  keyId: string;
  webhookId: string;
}

/** Half of the operations use one of the hot wallets. */
const HOT_WALLETS = 2;
const HOT_SHARE = 0.5;
/** Cancellations and refunds mostly concern recent objects, which still have something left. */
const RECENT = 40;
export const SPARE = "spare";

export function createEstate(): Estate {
  return {
    ...{ wallets: [], spares: [], charges: [], payments: [], transfers: [] },
    ...{ records: [], keys: [], webhooks: [], lastRead: undefined },
  };
}

/** Chooses a wallet, a hot one half of the time. */
export function chooseWallet({ wallets }: Estate, choice: number): Wallet | undefined {
  if (choice < HOT_SHARE) return at(wallets.slice(0, HOT_WALLETS), choice / HOT_SHARE);
  return at(wallets, (choice - HOT_SHARE) / (1 - HOT_SHARE));
}

/** Another wallet than the given one, while there are two. */
export function chooseOtherWallet(estate: Estate, choice: number, than: Wallet): Wallet | undefined {
  const others = estate.wallets.filter((wallet) => wallet !== than);
  return chooseWallet({ ...estate, wallets: others }, choice);
}

export function chooseRecent(ids: string[], choice: number): string | undefined {
  return at(ids.slice(-RECENT), choice);
}

/** Takes the object out, because its end can be asked for once. */
export function takeOut<T>(list: T[]): T | undefined {
  return list.shift();
}

/** Adds the object that an answer shows. */
export function learn(estate: Estate, name: OperationName, data: unknown): void {
  const found = data as Learned;
  const { walletId, walletAddress, userId, walletType, availableBalance } = found;
  if (name === "wallet.create" && userId.startsWith(SPARE)) estate.spares.push({ walletId, walletAddress });
  else if (name === "wallet.create" && walletType === "NORMAL")
    estate.wallets.push({ walletId, walletAddress });
  if (name === "wallet.get" && walletType === "NORMAL") estate.lastRead = { walletId, availableBalance };
  if (name === "charge") estate.charges.push(found.chargeId);
  if (name === "payment") estate.payments.push(found.paymentId);
  if (name === "transfer") estate.transfers.push(found.transferId);
  if (name === "record.create") estate.records.push(found.id);
  if (name === "key.create") estate.keys.push(found.keyId);
  if (name === "webhook.create") estate.webhooks.push(found.webhookId);
}

function at<T>(list: T[], choice: number): T | undefined {
  return list[Math.floor(choice * list.length)];
}
