import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { readText } from "../ops/repository";
import { type Answer, type Api } from "../support/api";

// Sends the example requests of gateway/openapi.json in the order of their answers' timestamps. Each
// request uses the ids of the earlier answers.

interface Media {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  parameters?: { in?: string; name?: string; example?: string }[];
  requestBody?: { content: { "application/json": Media } };
  responses: Record<string, { content: { "application/json": Media } }>;
}
interface Example {
  timestamp: string;
  data: unknown;
}
interface Step {
  operationId: string;
  method: string;
  path: string;
  body: unknown;
  status: number;
  example: Example;
}
export interface Answered {
  operationId: string;
  status: number;
  data: unknown;
}

/**
 * Operations about the API key itself, the health check and the stream do not belong to the story.
 * The periods of reports are the document's.
 */
const SKIPPED_OPERATIONS = [
  ...["checkHealth", "getSession", "refreshKey", "revokeKey", "streamEvents"],
  ...["readStatements", "readSettlements"],
];
/**
 * Fields that differ in every run. The test does not wait for the chain, and settlements are events too, so
 * the place of an event depends on the chain.
 */
const VARYING = [
  ...[
    "settlement",
    "createdAt",
    "updatedAt",
    "completedAt",
    "changedAt",
    "cancellableUntil",
    "transactionId",
  ],
  ...["sequence", "nextAfter", "deliveries"],
  ...["prefix", "apiKey", "secretKey", "rotatedAt", "issuedAt", "expiresAt", "revokedAt", "lastUsedAt"],
  // The webhook of the story leads nowhere, so its attempts differ. Its secret is new each time.
  ...["secret", "previousSecretEndsAt", "failingSince", "attempts", "nextAttemptAt"],
];
/** Query parameters with the dates of the document. */
const SKIPPED_PARAMETERS = ["from", "to"];
const ID = /\b(?:[a-z]{3}_[0-9a-f]{32}|0x[0-9a-fA-F]{40})\b/g;
/** Lists are projections of the journal: a list may lag behind the command. So do the rows of a payout. */
const PROJECTION_MS = 30_000;

/** Sends the requests of all examples. Returns the documented and the actual answers. */
export async function replayExamples(api: Api): Promise<{ documented: Answered[]; actual: Answered[] }> {
  const document = JSON.parse(readText("gateway/openapi.json")) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const steps = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => stepsOf(method, path, operation)),
  );
  steps.sort((one, other) => Date.parse(one.example.timestamp) - Date.parse(other.example.timestamp));
  const ids = new Map<string, string>();
  const [documented, actual]: [Answered[], Answered[]] = [[], []];
  for (const step of steps) {
    // The documented list has the shop's wallet, which no example makes.
    if (step.operationId === "listWallets")
      await api.post("/api/wallets", { userId: "shop-7", walletType: "NORMAL" });
    const { expected, answered } = await replayExample(api, step, ids);
    documented.push(expected);
    actual.push(answered);
  }
  return { documented, actual };
}

/** Repeats the request of a list until the answer is as documented, or PROJECTION_MS have passed. */
async function replayExample(
  api: Api,
  { operationId, method, path, body, status, example }: Step,
  ids: Map<string, string>,
): Promise<{ expected: Answered; answered: Answered }> {
  const request = withIds({ path, ...(body === undefined ? {} : { body }) }, ids);
  const endMs = Date.now() + (isList(example.data) || operationId === "getPayout" ? PROJECTION_MS : 0);
  for (;;) {
    const key = { idempotencyKey: randomUUID() };
    const answer: Answer<unknown> = await api.call(method, request.path, request.body, key);
    const learned = new Map(ids);
    learnIds(example.data, answer.body.data, learned);
    const expected = { operationId, status, data: withoutVarying(withIds(example.data, learned)) };
    const answered = { operationId, status: answer.status, data: withoutVarying(answer.body.data) };
    if (isDeepStrictEqual(expected, answered) || Date.now() >= endMs) {
      for (const [documentedId, actualId] of learned) ids.set(documentedId, actualId);
      return { expected, answered };
    }
    await sleep(50);
  }
}

function isList(data: unknown): boolean {
  return typeof data === "object" && data !== null && "items" in data;
}

function stepsOf(method: string, path: string, operation: Operation): Step[] {
  const { operationId, parameters = [], requestBody, responses } = operation;
  // The answers of x402 have no envelope: x402.e2e tests them. sandbox.e2e tests the sandbox.
  const isElsewhere = ["/x402/", "/api/sandbox/"].some((start) => path.startsWith(start));
  if (SKIPPED_OPERATIONS.includes(operationId) || isElsewhere) return [];
  const [status, { content }] = Object.entries(responses).find(([code]) => Number(code) < 300)!;
  const bodies = requestBody ? valuesOf(requestBody.content["application/json"]) : [];
  const shown = parameters.filter(({ example }) => example !== undefined);
  const inPath = shown.filter((one) => one.in === "path");
  const inQuery = shown.filter((one) => one.in === "query" && !SKIPPED_PARAMETERS.includes(one.name!));
  const place = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example!), path);
  const query = inQuery.map(({ name, example }) => `${name}=${example}`).join("&");
  return valuesOf(content["application/json"]).map((example, index) => ({
    operationId,
    method: method.toUpperCase(),
    path: query === "" ? place : `${place}?${query}`,
    body: bodies[index],
    status: Number(status),
    example: example as Example,
  }));
}

function valuesOf({ example, examples }: Media): unknown[] {
  return examples ? Object.values(examples).map(({ value }) => value) : [example];
}

/** Replaces the document's ids by those of this run. */
function withIds<T>(value: T, ids: Map<string, string>): T {
  return JSON.parse(JSON.stringify(value).replace(ID, (id) => ids.get(id) ?? id)) as T;
}

/** Maps each id of the documented answer to the id at the same place of the actual answer. */
function learnIds(documented: unknown, actual: unknown, ids: Map<string, string>): void {
  if (typeof documented === "string" && typeof actual === "string") {
    if (isId(documented) && isId(actual)) ids.set(documented, actual);
  } else if (
    typeof documented === "object" &&
    documented !== null &&
    typeof actual === "object" &&
    actual !== null
  ) {
    for (const [field, value] of Object.entries(documented))
      learnIds(value, (actual as Record<string, unknown>)[field], ids);
  }
}

function isId(text: string): boolean {
  return text.match(ID)?.[0] === text;
}

function withoutVarying(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (field, of: unknown) => (VARYING.includes(field) ? undefined : of)),
  );
}
