import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Stack } from "@wonrail/local/stackFile";
import { startReceiver } from "../../../money/receiver";
import { OUTSIDE } from "../../../money/scenes";
import { type NewOrganisation } from "../../../support/operators";
import { type HistoryLine, type OperationName } from "../../history";
import { type WorldAccess } from "../access";
import { isFinal, type Json } from "../operations";
import { randomFrom } from "./simulateRun";

export interface Drive {
  historyFile: string;
  access: WorldAccess;
  /** Writes the deliveries that came until now into the history. */
  writeDeliveries(): void;
  close(): Promise<void>;
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

interface Request {
  name: OperationName;
  method: "GET" | "POST";
  path: string;
  body?: Json;
}

const USERS = 4;
const CLIENTS = 8;
const PAUSE_MS = 250;

/** Sends random calls of two organisations to a stack and writes their history. */
export async function driveStack(
  stack: Stack,
  organisations: NewOrganisation[],
  { folder, operations, seed }: { folder: string; operations: number; seed: number },
): Promise<Drive> {
  const historyFile = join(folder, "history.jsonl");
  const startedMs = performance.now();
  const now = () => performance.now() - startedMs;
  const write = (line: HistoryLine) => appendFileSync(historyFile, `${JSON.stringify(line)}\n`);
  writeFileSync(historyFile, "");
  let begun = 0;

  const send = async (
    organisation: NewOrganisation,
    client: number,
    request: Request,
    key: string,
  ): Promise<Json> => {
    const { orgCode, apiKey } = organisation;
    const { name, method, path, body } = request;
    const operation = (begun += 1);
    for (let attempt = 1; ; attempt += 1) {
      const asked = method === "GET" ? {} : { key, body };
      write({
        ...{ kind: "call", at: now(), operation, attempt, client, organisation: orgCode },
        ...{ name, method, path, ...asked },
      });
      const response = await fetch(stack.gatewayUrl + path, {
        method,
        headers: { "X-API-Key": apiKey, "Idempotency-Key": key, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as Json;
      const { status, headers } = response;
      const replayed = headers.get("idempotent-replayed") === "true";
      write({ kind: "answer", at: now(), operation, attempt, status, replayed, body: answer });
      if (isFinal({ status, error: answer.error })) return answer.data;
      await sleep(PAUSE_MS);
    }
  };

  const endpoints: { organisation: string; webhookId: string; receiver: Receiver }[] = [];
  const work = organisations.map(async (organisation, place) => {
    const random = randomFrom(seed + place);
    const estate: Estate = { wallets: [], charges: [], payments: [] };
    const receiver = await startReceiver();
    const body = { url: receiver.url, ordering: "object", after: "0" };
    const webhook = { name: "webhook.create", method: "POST", path: "/api/webhooks", body } as const;
    const { webhookId } = await send(organisation, 0, webhook, "webhook");
    const { orgCode } = organisation;
    endpoints.push({ organisation: orgCode, webhookId, receiver });
    for (let user = 1; user <= USERS; user += 1) {
      const opened = post("wallet.create", "", { userId: `user-${user}`, walletType: "NORMAL" });
      estate.wallets.push(await send(organisation, 0, opened, `wallet-${user}`));
    }
    let left = operations;
    const runClient = async (client: number): Promise<void> => {
      while ((left -= 1) >= 0) {
        const request = chooseRequest(random, estate);
        const key = `${client}-${left}`;
        const twice = request.method === "POST" && random() < 0.1 ? [1, 2] : [1];
        const [data] = await Promise.all(twice.map(() => send(organisation, client, request, key)));
        if (request.name === "charge" && data) estate.charges.push(data.chargeId);
        if (request.name === "payment" && data) estate.payments.push(data.paymentId);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => runClient(index + 1)));
  });
  await Promise.all(work);

  const { rpcUrl, tokenAddress, paymentManagerAddress } = stack.chain;
  const access: WorldAccess = {
    gatewayUrls: [stack.gatewayUrl],
    organisations: organisations.map(({ orgId, orgCode, apiKey }) => ({ id: orgId, code: orgCode, apiKey })),
    databaseUrls: stack.postgres.urls,
    chain: { rpcUrl, tokenAddress, paymentManagerAddress },
  };
  return {
    ...{ historyFile, access },
    writeDeliveries() {
      for (const { organisation, webhookId, receiver } of endpoints)
        for (const { body } of receiver.deliveries) {
          const event: Json = JSON.parse(body);
          const { eventId } = event;
          write({ kind: "delivery", at: now(), organisation, webhookId, eventId, body: event });
        }
    },
    async close() {
      await Promise.all(endpoints.map(({ receiver }) => receiver.close()));
    },
  };
}

interface Estate {
  wallets: { walletId: string; walletAddress: string }[];
  charges: string[];
  payments: string[];
}

function post(name: OperationName, path: string, body: Json): Request {
  return { name, method: "POST", path: `/api/wallets${path}`, body };
}

function chooseRequest(random: () => number, { wallets, charges, payments }: Estate): Request {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const [wallet, other] = [pick(wallets), pick(wallets)];
  const { walletId } = wallet;
  const amount = 1_000 + Math.floor(random() * 4_000);
  const charge = () => post("charge", "/charge", { walletId, amount: amount * 3 });
  const choices: (() => Request)[] = [
    charge,
    charge,
    () =>
      post("transfer", "/transfer", { fromWalletId: walletId, toWalletAddress: other.walletAddress, amount }),
    () => post("transfer", "/transfer", { fromWalletId: walletId, toWalletAddress: OUTSIDE, amount }),
    () => {
      const incentive = random() < 0.5 ? {} : { incentiveAmount: 50 };
      return post("payment", "/payment", {
        payerWalletId: walletId,
        receiverWalletId: other.walletId,
        amount,
        ...incentive,
      });
    },
    () => post("charge.cancel", "/charge/cancel", { chargeId: pick(charges), amount: 700 }),
    () => post("payment.cancel", "/payment/cancel", { paymentId: pick(payments) }),
    () => post("payment.refund", "/payment/refund", { paymentId: pick(payments), amount: 900 }),
    () => ({ name: "wallet.get", method: "GET", path: `/api/wallets/${walletId}` }),
    () => post("refund", "/charge/refund", { walletId }),
  ];
  const request = pick(choices)();
  const { chargeId = "", paymentId = "" } = request.body ?? {};
  return chargeId === undefined || paymentId === undefined ? charge() : request;
}
