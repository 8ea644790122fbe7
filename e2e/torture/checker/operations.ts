import { type Call, type Delivery, type HistoryLine, type OperationName } from "../history";

// oxlint-disable-next-line typescript/no-explicit-any -- the checks read the fields that they know
export type Json = any;

/** A call of a client with all its attempts. */
export interface Operation {
  id: number;
  organisation: string;
  name: OperationName;
  method: Call["method"];
  path: string;
  key: string | undefined;
  body: Json;
  /** When the first attempt was sent. */
  invokedAt: number;
  /** All answers in the order of their arrival. */
  answers: GivenAnswer[];
  /** The first final answer. Without one, the outcome is unknown. */
  outcome: GivenAnswer | undefined;
}

export interface GivenAnswer {
  at: number;
  status: number;
  replayed: boolean;
  data: Json;
  error: { code: string; details: Json } | null;
}

export interface History {
  operations: Operation[];
  deliveries: Delivery[];
}

export async function collectHistory(
  lines: AsyncIterable<HistoryLine> | Iterable<HistoryLine>,
): Promise<History> {
  const operations = new Map<number, Operation>();
  const deliveries: Delivery[] = [];
  for await (const line of lines) {
    if (line.kind === "delivery") deliveries.push(line);
    else if (line.kind === "call" && !operations.has(line.operation))
      operations.set(line.operation, newOperation(line));
    else if (line.kind === "answer") addAnswer(operations.get(line.operation)!, line);
  }
  return { operations: [...operations.values()], deliveries };
}

/** Success and refusal are final. After every other answer the same request may have another outcome. */
export function isFinal({ status, error }: Pick<GivenAnswer, "status" | "error">): boolean {
  if (status >= 500 || [401, 403, 408, 429].includes(status)) return false;
  return error?.code !== "REQ_002";
}

export function isSuccess({ status }: GivenAnswer): boolean {
  return status < 300;
}

/** Equal requests under one key are one operation, because they have one effect. */
export function mergeByKey(operations: Operation[]): Operation[] {
  const merged = new Map<string, Operation>();
  for (const operation of operations) {
    const { id, organisation, name, path, key, body, outcome, answers, invokedAt } = operation;
    const request = key === undefined ? String(id) : JSON.stringify([organisation, name, key, path, body]);
    const first = merged.get(request);
    if (!first) {
      merged.set(request, { ...operation });
      continue;
    }
    first.invokedAt = Math.min(first.invokedAt, invokedAt);
    first.answers = [...first.answers, ...answers];
    if (outcome && !(first.outcome && first.outcome.at <= outcome.at)) first.outcome = outcome;
  }
  return [...merged.values()];
}

/** Operations with a success, beside its data. */
export function successesOf(
  operations: Operation[],
  ...names: OperationName[]
): { operation: Operation; data: Json }[] {
  return operations.flatMap((operation) =>
    names.includes(operation.name) && operation.outcome && isSuccess(operation.outcome)
      ? [{ operation, data: operation.outcome.data }]
      : [],
  );
}

function newOperation({ operation: id, organisation, name, method, path, key, body, at }: Call): Operation {
  const place = { id, organisation, name, method, path, key, body };
  return { ...place, invokedAt: at, answers: [], outcome: undefined };
}

function addAnswer(operation: Operation, line: HistoryLine & { kind: "answer" }): void {
  const { data = null, error = null } = (line.body ?? {}) as Partial<GivenAnswer>;
  const answer = { at: line.at, status: line.status, replayed: line.replayed, data, error };
  operation.answers.push(answer);
  if (operation.outcome === undefined && isFinal(answer)) operation.outcome = answer;
}
