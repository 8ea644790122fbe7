import { createHash, randomUUID } from "node:crypto";
import { createClients } from "@wonrail/gateway/clients";
import { parseApiKey } from "@wonrail/kit/contract/apiKey";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { WebhookOrdering, WebhookStatus } from "@wonrail/proto/events/v1/events";
import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import {
  type CreatePayoutRequest,
  type ExecuteRequest,
  type ExecuteResponse,
  PayoutMode,
} from "@wonrail/proto/payment/v1/payment";
import { type CreateRecordRequest, PaymentType } from "@wonrail/proto/relayer/v1/relayer";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { CHAIN, identityOf, parts, type Services } from "./services";

/** Objects to query, created through the gateway's own clients. */
export interface Story {
  gateway: ReturnType<typeof createClients>;
  orgId: string;
  keyId: string;
  key: { prefix: string; keyHash: Buffer };
  secretKey: string;
  /** Another organisation, whose key may be revoked. */
  other: { orgId: string; keyId: string };
  /** A third organisation, whose secret key may be replaced. */
  third: { orgId: string; keyId: string };
  payer: StoryWallet;
  payee: StoryWallet;
  chargeId: string;
  refundId: string;
  transferId: string;
  paymentId: string;
  payoutId: string;
  recordId: string;
  eventId: string;
  webhookId: string;
}

interface StoryWallet {
  walletId: string;
  userId: string;
  address: string;
}

export const TRANSFER_WON = "1000";

export async function makeStory(services: Services): Promise<Story> {
  const { auth, addressOf } = services;
  const addresses = {
    AUTH_ADDRESS: addressOf("auth"),
    WALLET_ADDRESS: addressOf("wallet"),
    PAYMENT_ADDRESS: addressOf("payment"),
    RELAYER_ADDRESS: addressOf("chain-relayer"),
    EVENTS_ADDRESS: addressOf("events"),
  };
  const gateway = createClients(addresses, { ...parts(), tls: identityOf("gateway") });
  const organisation = (code: string) =>
    auth.createOrganisation({ code, name: code, incentiveRateBps: 500, actor: "test" });
  const [ours, other] = [await organisation("ACME"), await organisation("OTHER")];
  const third = await organisation("THIRD");
  const { orgId } = ours.organisation;
  const { prefix, hash: keyHash } = parseApiKey(ours.apiKey)!;
  const [payer, payee] = [await makeWallet(gateway, orgId), await makeWallet(gateway, orgId)];

  const execute = async (command: Command) =>
    idOf(await inRequestContext(orgId, () => gateway.executePayment(executeRequest(orgId, command))));
  const charge = { walletId: payer.walletId, amountWon: "1000000", metadata: {} };
  const chargeId = await execute({ $case: "charge", value: charge });
  const { walletId } = await makeWallet(gateway, orgId);
  await execute({ $case: "charge", value: { ...charge, walletId } });
  const refundId = await execute({ $case: "refund", value: { walletId, metadata: {} } });
  const transferId = await execute(transferCommand(payer, payee));
  const ids = { payerWalletId: payer.walletId, receiverWalletId: payee.walletId };
  const pay = { ...ids, amountWon: "10000", metadata: {} };
  const paymentId = await execute({ $case: "pay", value: pay });
  const { payout } = await gateway.payment.createPayout(payoutRequest(orgId, payer.walletId, payee.address));
  const { record } = await gateway.relayer.createRecord(recordRequest(orgId, payer, payee));
  await gateway.wallet.getWallet({ orgId, walletId: payer.walletId });
  await gateway.payment.listWalletTransactions({ orgId, walletId: payer.walletId, types: [] });

  await insertOperation(services, orgId, transferId);

  const named = { orgId, keyId: ours.key.keyId, key: { prefix, keyHash }, secretKey: ours.secretKey };
  return {
    gateway,
    ...named,
    other: { orgId: other.organisation.orgId, keyId: other.key.keyId },
    third: { orgId: third.organisation.orgId, keyId: third.key.keyId },
    payer,
    payee,
    chargeId,
    refundId,
    transferId,
    paymentId,
    payoutId: payout!.payoutId,
    recordId: record!.id,
    eventId: await makeEvent(services, orgId, ours.key.keyId),
    webhookId: await makeWebhook(gateway, orgId),
  };
}

/** The operation of a transfer, as chain-relayer pulls it from the ledger. */
async function insertOperation({ databases }: Services, orgId: string, ref: string): Promise<void> {
  await databases.get("chain-relayer")!.db.run(sql`
    insert into operations (org_id, ledger_ref, org_sequence, related_id, kind, operation_id, steps, from_wallets,
      wallets, state)
    values (${orgId}, ${ref}, 1, ${ref}, 'INTENT_KIND_TRANSFER', ${"5a".repeat(32)}, '[]', '{}', '{}', 'WAITING')`);
}

/** An endpoint that gets nothing. */
export async function makeWebhook({ events }: Story["gateway"], orgId: string): Promise<string> {
  const asked = { orgId, url: "http://127.0.0.1:9/hook", eventTypes: [], description: "" };
  const choices = { status: WebhookStatus.DISABLED, ordering: WebhookOrdering.NONE };
  return (await events.createWebhook({ ...asked, ...choices })).webhook!.webhookId;
}

export function payoutRequest(
  orgId: string,
  fromWalletId: string,
  toWalletAddress: string,
): CreatePayoutRequest {
  const rows = [{ toWalletAddress, amountWon: TRANSFER_WON, metadata: {} }];
  return { orgId, fromWalletId, mode: PayoutMode.ATOMIC, dryRun: true, bodyHash: Buffer.alloc(0), rows };
}

/** A public event, made as the inbox makes it. */
async function makeEvent({ events, databases }: Services, orgId: string, keyId: string): Promise<string> {
  const times = { issuedAt: new Date(), expiresAt: new Date(Date.now() + 86_400_000) };
  const grant = {
    name: "API key",
    scopes: ["payments:write"],
    allowedAddresses: [],
    apiVersion: "2026-01-01",
  };
  const payload = KeyIssued.encode({ orgId, keyId, keyPrefix: "wk_test_1", ...times, ...grant }).finish();
  const issued = {
    ...{ id: newId("evt"), type: "key_issued", topic: "wonrail.auth.v1", aggregateId: keyId, orgId },
    ...{ version: 1n, occurredAt: new Date(), traceparent: "", requestId: "", payload: Buffer.from(payload) },
  };
  await tx(databases.get("events")!.db, (tx) => events.projectKeys(tx, [issued]));
  const all = { orgId, after: null, types: [], objectId: null, isDescending: false, limit: 1, waitMs: 0 };
  return (await events.listEvents(all)).events[0]!.eventId;
}

export async function makeWallet(gateway: Story["gateway"], orgId: string): Promise<StoryWallet> {
  const wish = { orgId, userId: randomUUID(), walletType: WalletType.NORMAL, metadata: {} };
  const { walletId, userId, walletAddress: address } = (await gateway.wallet.createWallet(wish)).wallet!;
  return { walletId, userId, address };
}

export type Command = NonNullable<ExecuteRequest["command"]>;

/** A command as the gateway sends it. */
export function executeRequest(orgId: string, command: Command): ExecuteRequest {
  return {
    context: contextOf(orgId),
    idempotencyKey: randomUUID(),
    bodyHash: createHash("sha256").update(JSON.stringify(command)).digest(),
    command,
  };
}

export function contextOf(orgId: string) {
  return { orgId, requestId: newId("req"), traceparent: childTraceparent() };
}

/** In the context of a partner's request, as everything that the gateway does. */
function inRequestContext<T>(orgId: string, work: () => T): T {
  return runInContext(contextOf(orgId), work);
}

export function transferCommand(from: StoryWallet, to: StoryWallet): Command {
  const ids = { fromWalletId: from.walletId, toWalletAddress: to.address };
  const value = { ...ids, amountWon: TRANSFER_WON, metadata: {} };
  return { $case: "transfer", value };
}

/** A scheduled transaction of tomorrow. */
export function recordRequest(orgId: string, from: StoryWallet, to: StoryWallet): CreateRecordRequest {
  const fields = {
    fromNetworkType: CHAIN.NETWORK,
    toNetworkType: CHAIN.NETWORK,
    paymentType: PaymentType.SCHEDULED,
    fromAddress: from.address,
    toAddress: to.address,
    amount: "1000000000",
    metadata: {},
    scheduledAt: new Date(Date.now() + 86_400_000),
  };
  return { orgId, fields, idempotencyKey: randomUUID(), bodyHash: Buffer.alloc(32, 1) };
}

function idOf({ outcome }: ExecuteResponse): string {
  switch (outcome?.$case) {
    case "charge":
      return outcome.value.chargeId;
    case "refund":
      return outcome.value.refundId;
    case "transfer":
      return outcome.value.transferId;
    case "payment":
      return outcome.value.paymentId;
    default:
      throw new Error(`the command was answered by ${JSON.stringify(outcome)}`);
  }
}
