import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceClient, ServiceError } from "@wonrail/sdk";
import { type OperationName } from "../history";
import { type HistoryWriter } from "../historyWriter";
import { type TortureOrganisation, type World } from "../world/openWorld";
import { learn } from "./estate";
import { type PlannedOperation, planOperations, type WorkloadShape } from "./plan";
import { prepareEstates, type Send } from "./prepareEstates";
import { recordingFetch, type Sending, sending } from "./recordingFetch";
import { buildRequest, type Request, type Surroundings } from "./requests";

/** Longer than the gateway's budget for a request. */
const ATTEMPT_MS = 12_000;
const AGAIN_MS = 500;
const REPEAT_ONE_OF = 20;
/** Their key gives the same answer for ever. */
const REPEATABLE: OperationName[] = [
  ...(["wallet.create", "charge", "charge.cancel", "refund", "transfer", "payment"] as const),
  ...(["payment.cancel", "payment.refund", "record.create"] as const),
];

export interface Clients {
  /** Operations with a final answer. */
  done(): number;
  /** Begun operations without a final answer. */
  open(): number;
  /** Number of final answers by operation and outcome: `ok`, or an error's code. */
  outcomes: Map<string, Map<string, number>>;
  /** Starts the clients. Resolves when all of them have no further operation and every answer. */
  run(hasNext: () => boolean): Promise<void>;
  /** Ends the retries: operations without an answer stay unknown. */
  giveUp(): void;
}

export interface ClientsOptions extends WorkloadShape {
  world: World;
  history: HistoryWriter;
  surroundings: Omit<Surroundings, "newWebhookUrl">;
}

/** Opens the organisations' first wallets and returns the clients. */
export async function openClients(options: ClientsOptions): Promise<Clients> {
  const { world, history, surroundings } = options;
  const transport = recordingFetch(history, world.gatewayUrls);
  const outcomes: Clients["outcomes"] = new Map();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  let [begun, done] = [0, 0];

  const send: Send = async (of, request, key) => {
    const organisation = world.organisations.find(({ code }) => code === of.organisation)!;
    begun += 1;
    const sendNow = () => sendUntilAnswered(organisation, request, { key, transport, signal: stop.signal });
    const outcome = await sending.run({ ...of, attempts: 0 }, async () => {
      const first = await sendNow();
      if (first?.code === "ok" && isRepeated(of)) await sendNow();
      return first;
    });
    if (outcome === undefined) return;
    done += 1;
    count(outcomes, request.name, outcome.code);
    if (outcome.code !== "ok") return;
    learn(organisation.estate, request.name, outcome.data);
    if (request.name === "webhook.create") registerWebhook(world, outcome.data);
  };

  async function runClient(client: number, hasNext: () => boolean): Promise<void> {
    const plan = planOperations(options, client);
    while (hasNext() && !stop.signal.aborted) {
      const planned: PlannedOperation = plan.next().value;
      const { code, estate } = world.organisations[planned.organisation]!;
      const own = { ...surroundings, newWebhookUrl: () => world.receiver.newUrl(code) };
      const request = buildRequest(planned, estate, own);
      const { operation, key } = planned;
      await send({ operation, client, organisation: code, name: request.name }, request, key);
    }
  }

  await prepareEstates(world, { seed: options.seed, send });
  return {
    done: () => done,
    open: () => begun - done,
    outcomes,
    async run(hasNext) {
      await Promise.all([...Array(options.clients).keys()].map((client) => runClient(client, hasNext)));
    },
    giveUp: () => stop.abort(),
  };
}

/** Some requests are sent again after their success, as by a partner that lost its answer. */
function isRepeated({ operation, name }: Omit<Sending, "attempts">): boolean {
  return operation % REPEAT_ONE_OF === 0 && REPEATABLE.includes(name);
}

interface Sent {
  /** `ok`, or the code of a refusal. */
  code: string;
  data?: unknown;
}

interface SendOptions {
  key: string;
  transport: typeof fetch;
  signal: AbortSignal;
}

/** Repeats the call with its key while its outcome is open. Undefined when the run ends before. */
async function sendUntilAnswered(
  organisation: TortureOrganisation,
  { send }: Request,
  { key, transport, signal }: SendOptions,
): Promise<Sent | undefined> {
  for (let keyInUse = ""; !signal.aborted; await sleep(AGAIN_MS)) {
    keyInUse = organisation.apiKey;
    const sdk = new ServiceClient({
      ...{ baseUrl: "http://127.0.0.1", apiKey: keyInUse, fetch: transport, logLevel: "off" },
      ...{ timeoutMs: ATTEMPT_MS },
    });
    try {
      return { code: "ok", data: await send(sdk, { idempotencyKey: key, signal }) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isOldKey = error.status === 401 && keyInUse !== organisation.apiKey;
      if (!isOpen(error) && !isOldKey) return { code: error.code };
    }
  }
  return undefined;
}

/** The call may have been executed, or can succeed later. */
function isOpen({ outcomeUnknown, retryable, code, status = 0 }: ServiceError): boolean {
  return outcomeUnknown || retryable || status >= 500 || ["SDK_001", "SDK_002", "SDK_003"].includes(code);
}

function registerWebhook({ receiver }: World, data: unknown): void {
  const { url, webhookId, secret } = data as { url: string; webhookId: string; secret: string };
  receiver.register(url, webhookId, secret);
}

function count(outcomes: Clients["outcomes"], name: string, code: string): void {
  const ofName = outcomes.get(name) ?? new Map<string, number>();
  outcomes.set(name, ofName.set(code, (ofName.get(code) ?? 0) + 1));
}
