import { randomUUID } from "node:crypto";
import { readText } from "../ops/repository";
import { type Api } from "../support/api";

// Requests the document's examples in order, as a reader would with the ids of his own answers.

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
interface DocumentedAnswer {
  timestamp: string;
  data: unknown;
}
interface Step {
  operationId: string;
  method: string;
  path: string;
  body: unknown;
  status: number;
  documented: DocumentedAnswer;
}

/** Operations on the key and the service itself. */
const SKIPPED_OPERATIONS = ["checkHealth", "getSession", "refreshKey", "revokeKey"];
/** Fields that differ each time. The settlement state is not awaited here. */
const VARYING_FIELDS = [
  "settlement",
  "createdAt",
  "updatedAt",
  "changedAt",
  "cancellableUntil",
  "transactionId",
];
/** The story's own day. */
const OMITTED_PARAMETERS = ["from", "to"];
const NAME = /\b(?:[a-z]{3}_[0-9a-f]{32}|0x[0-9a-fA-F]{40})\b/g;

/** Sends each example request. Returns the documented and the real answers. */
export async function replayExamples(api: Api): Promise<{ documented: object; answered: object }[]> {
  const document = JSON.parse(readText("gateway/openapi.json")) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const steps = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => stepsOf(method, path, operation)),
  );
  steps.sort((one, other) => Date.parse(one.documented.timestamp) - Date.parse(other.documented.timestamp));
  const ours = new Map<string, string>();
  const withOurIds = <T>(value: T) =>
    JSON.parse(JSON.stringify(value).replace(NAME, (name) => ours.get(name) ?? name)) as T;
  const replayed: { documented: object; answered: object }[] = [];
  for (const { operationId, method, path, body, status, documented } of steps) {
    // The shop's wallet exists before a list shows it.
    if (operationId === "listWallets")
      await api.post("/api/wallets", { userId: "shop-7", walletType: "NORMAL" });
    const request = withOurIds({ path, ...(body === undefined ? {} : { body }) });
    const answer = await api.call(method, request.path, request.body, { idempotencyKey: randomUUID() });
    learn(documented.data, answer.body.data, ours);
    replayed.push({
      documented: { operationId, status, data: lasting(withOurIds(documented.data)) },
      answered: { operationId, status: answer.status, data: lasting(answer.body.data) },
    });
  }
  return replayed;
}

function stepsOf(method: string, path: string, operation: Operation): Step[] {
  const { operationId, parameters = [], requestBody, responses } = operation;
  if (SKIPPED_OPERATIONS.includes(operationId)) return [];
  const [status, { content }] = Object.entries(responses).find(([code]) => Number(code) < 300)!;
  const bodies = requestBody ? valuesOf(requestBody.content["application/json"]) : [];
  const shown = parameters.filter(({ example }) => example !== undefined);
  const inPath = shown.filter((one) => one.in === "path");
  const inQuery = shown.filter((one) => one.in === "query" && !OMITTED_PARAMETERS.includes(one.name!));
  const place = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, example!), path);
  const query = inQuery.map(({ name, example }) => `${name}=${example}`).join("&");
  return valuesOf(content["application/json"]).map((documented, index) => ({
    operationId,
    method: method.toUpperCase(),
    path: query === "" ? place : `${place}?${query}`,
    body: bodies[index],
    status: Number(status),
    documented: documented as DocumentedAnswer,
  }));
}

function valuesOf({ example, examples }: Media): unknown[] {
  return examples ? Object.values(examples).map(({ value }) => value) : [example];
}

/** Maps the document's ids and names to the real ones. */
function learn(documented: unknown, answered: unknown, ours: Map<string, string>): void {
  if (typeof documented === "string" && typeof answered === "string") {
    const [names, theirs] = [documented.match(NAME), answered.match(NAME)];
    if (names?.[0] === documented && theirs?.[0] === answered) ours.set(documented, answered);
  } else if (
    typeof documented === "object" &&
    documented !== null &&
    typeof answered === "object" &&
    answered !== null
  ) {
    for (const [field, value] of Object.entries(documented))
      learn(value, (answered as Record<string, unknown>)[field], ours);
  }
}

function lasting(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (field, of: unknown) => (VARYING_FIELDS.includes(field) ? undefined : of)),
  );
}
