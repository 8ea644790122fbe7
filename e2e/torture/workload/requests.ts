import { createHash } from "node:crypto";
import { type ApiPromise, type IdempotentCallOptions, type ServiceClient } from "@wonrail/sdk";
import { type OperationName } from "../history";
import { chooseOtherWallet, chooseRecent, chooseWallet, type Estate, SPARE, takeOut } from "./estate";
import { type PlannedOperation } from "./plan";

/** A call of the SDK. Each repetition sends the same request. */
export interface Request {
  name: OperationName;
  send(sdk: ServiceClient, options: IdempotentCallOptions): ApiPromise<unknown>;
}

export interface Surroundings {
  /** Outside addresses that can receive. */
  outside: string[];
  /** An outside address on the token's blocklist: transfers to it fail. */
  unfit: string;
  newWebhookUrl(): string;
}

type Builder = (
  planned: PlannedOperation,
  estate: Estate,
  surroundings: Surroundings,
) => Request["send"] | undefined;

const SCHEDULED_IN_MS = 8_000;
const UNITS_PER_WON = 1_000_000;
/** Each webhook of an organisation gets every event. */
const MOST_WEBHOOKS = 2;

/** The planned operation as a call. A charge replaces an operation without an object. */
export function buildRequest(planned: PlannedOperation, estate: Estate, surroundings: Surroundings): Request {
  const send = BUILDERS[planned.name](planned, estate, surroundings);
  if (send) return { name: planned.name, send };
  const charge = BUILDERS.charge(planned, estate, surroundings);
  if (!charge) throw new Error("an organisation has no wallet to charge");
  return { name: "charge", send: charge };
}

const BUILDERS: Record<OperationName, Builder> = {
  "wallet.create": createWallet,
  "wallet.get": withWallet(
    (walletId) =>
      (sdk, { idempotencyKey: _, ...options }) =>
        sdk.wallets.get(walletId, options),
  ),
  "wallet.balance": withWallet(
    (walletId) =>
      (sdk, { idempotencyKey: _, ...options }) =>
        sdk.wallets.getBalance(walletId, {}, options),
  ),
  "wallet.deactivate": (_, { spares }) => {
    const spare = takeOut(spares);
    return spare && ((sdk, options) => sdk.wallets.deactivate(spare.walletId, options));
  },
  charge: withWallet(
    (walletId, { amount }) =>
      (sdk, options) =>
        sdk.charges.create({ walletId, amount: 10 * amount }, options),
  ),
  "charge.cancel": ({ choice, variant, amount }, { charges }) => {
    const chargeId = chooseRecent(charges, choice);
    const part = variant < 0.8 ? { amount } : {};
    return chargeId === undefined
      ? undefined
      : (sdk, options) => sdk.charges.cancel({ chargeId, ...part }, options);
  },
  refund: withWallet((walletId) => (sdk, options) => sdk.charges.refund({ walletId }, options)),
  transfer,
  "transfer.get": ({ choice }, { transfers }) => {
    const id = chooseRecent(transfers, choice);
    return id === undefined
      ? undefined
      : (sdk, { idempotencyKey: _, ...options }) => sdk.transfers.get(id, options);
  },
  payment,
  "payment.cancel": ({ choice }, { payments }) => {
    const paymentId = chooseRecent(payments, choice);
    return paymentId === undefined
      ? undefined
      : (sdk, options) => sdk.payments.cancel({ paymentId }, options);
  },
  "payment.refund": ({ choice, amount }, { payments }) => {
    const paymentId = chooseRecent(payments, choice);
    const part = { amount: Math.ceil(amount / 3) };
    return paymentId === undefined
      ? undefined
      : (sdk, options) => sdk.payments.refund({ paymentId, ...part }, options);
  },
  "payment.get": ({ choice }, { payments }) => {
    const id = chooseRecent(payments, choice);
    return id === undefined
      ? undefined
      : (sdk, { idempotencyKey: _, ...options }) => sdk.payments.get(id, options);
  },
  "record.create": createRecord,
  "record.status": ({ variant }, { records }) => {
    const id = takeOut(records);
    const status = variant < 0.5 ? "CONFIRMED" : "FAILED";
    return id === undefined
      ? undefined
      : (sdk, { idempotencyKey: _, ...options }) => sdk.transactions.updateStatus(id, { status }, options);
  },
  "key.create": ({ operation }) => {
    const request = { name: `Key ${operation}`, scopes: ["wallets:read" as const] };
    return (sdk, options) => sdk.keys.create(request, options);
  },
  "key.revoke": (_, { keys }) => {
    const id = takeOut(keys);
    return id === undefined
      ? undefined
      : (sdk, { idempotencyKey: _key, ...options }) => sdk.keys.revoke(id, {}, options);
  },
  "webhook.create": (_planned, { webhooks }, { newWebhookUrl }) => {
    if (webhooks.length >= MOST_WEBHOOKS) return undefined;
    const request = { url: newWebhookUrl(), ordering: "object" as const };
    return (sdk, options) => sdk.webhooks.create(request, options);
  },
  "webhook.update": ({ choice, operation }, { webhooks }) => {
    const id = chooseRecent(webhooks, choice);
    const request = { description: `Changed by ${operation}` };
    return id === undefined
      ? undefined
      : (sdk, { idempotencyKey: _, ...options }) => sdk.webhooks.update(id, request, options);
  },
};

function withWallet(build: (walletId: string, planned: PlannedOperation) => Request["send"]): Builder {
  return (planned, estate) => {
    const wallet = chooseWallet(estate, planned.choice);
    return wallet && build(wallet.walletId, planned);
  };
}

/** A new user's wallet, a spare one to be deactivated, or an INCENTIVE wallet. */
function createWallet({ variant, key }: PlannedOperation): Request["send"] {
  const userId = variant < 0.5 ? `${SPARE}-${key}` : key;
  const walletType = variant < 0.8 ? ("NORMAL" as const) : ("INCENTIVE" as const);
  return (sdk, options) => sdk.wallets.create({ userId, walletType }, options);
}

/** To a wallet of the organisation, to outside, or to an address that cannot receive. */
function transfer(
  { choice, otherChoice, variant, amount }: PlannedOperation,
  estate: Estate,
  { outside, unfit }: Surroundings,
): Request["send"] | undefined {
  const from = chooseWallet(estate, choice);
  const inside = from && chooseOtherWallet(estate, otherChoice, from)?.walletAddress;
  const outsideAddress = outside[Math.floor(otherChoice * outside.length)];
  const to = variant < 0.75 ? inside : variant < 0.95 ? outsideAddress : unfit;
  if (!from || to === undefined) return undefined;
  const all = variant >= 0.92 && variant < 0.95 ? amountOfAll(estate) : undefined;
  const request = { fromWalletId: from.walletId, amount, ...all, toWalletAddress: to };
  return (sdk, options) => sdk.transfers.create(request, options);
}

/** All that a wallet had when it was read. While it is held, nothing can leave the wallet. */
function amountOfAll({ lastRead }: Estate): { fromWalletId: string; amount: number } | undefined {
  if (!lastRead || lastRead.availableBalance === 0) return undefined;
  return { fromWalletId: lastRead.walletId, amount: lastRead.availableBalance };
}

function payment(
  { choice, otherChoice, variant, amount }: PlannedOperation,
  estate: Estate,
): Request["send"] | undefined {
  const payer = chooseWallet(estate, choice);
  const receiver = payer && chooseOtherWallet(estate, otherChoice, payer);
  if (!receiver) return undefined;
  const incentive = variant < 0.4 ? {} : { incentiveAmount: variant < 0.8 ? 0 : 20 };
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  return (sdk, options) => sdk.payments.create({ ...ids, amount, ...incentive }, options);
}

/** A transaction of another network, or a transfer that the service sends in a few seconds. */
function createRecord(
  { key, choice, variant, amount }: PlannedOperation,
  estate: Estate,
  { outside }: Surroundings,
): Request["send"] | undefined {
  const wallet = chooseWallet(estate, choice);
  if (!wallet) return undefined;
  const common = { fromAddress: wallet.walletAddress, amount: String(amount * UNITS_PER_WON) };
  if (variant < 0.5) {
    const txHash = `0x${createHash("sha256").update(key).digest("hex")}`;
    const request = { ...common, paymentType: "INSTANT" as const, toAddress: outside[0]!, txHash };
    return (sdk, options) =>
      sdk.transactions.create({ ...request, fromNetworkType: "BASE_SEPOLIA" }, options);
  }
  const toAddress = estate.wallets.at(-1)!.walletAddress;
  const scheduledAt = new Date(Date.now() + SCHEDULED_IN_MS).toISOString();
  const request = { ...common, paymentType: "SCHEDULED" as const, toAddress, scheduledAt };
  return (sdk, options) => sdk.transactions.create(request, options);
}
