import { type OperationName } from "../history";
import { isSameJson } from "./isSameJson";
import { isFinal, isSuccess, type GivenAnswer, type Json, type Operation } from "./operations";
import { type Violation } from "./violation";

/** The ledger stores the refusals of these calls under their key. */
const MONEY: readonly OperationName[] = [
  "charge",
  "charge.cancel",
  "refund",
  "transfer",
  "payment",
  "payment.cancel",
  "payment.refund",
];

/** Fields that follow the chain, and secrets that only the first answer shows. */
const CHANGING = ["settlement", "updatedAt", "failureReason", "apiKey", "secret"];

interface KeyedAnswer {
  operation: Operation;
  answer: GivenAnswer;
}

/** All final answers under one key of one route must be the same answer. */
export function checkKeys(operations: Operation[]): Violation[] {
  return [...groupByKey(operations)].flatMap(([key, group]) => {
    const [{ name, organisation }] = group as [Operation];
    const broken = findContradiction(name, group);
    if (!broken) return [];
    const ids = [...new Set(broken.answers.map(({ operation }) => operation.id))];
    return [{ check: "keys", organisation, message: `${name} ${key}: ${broken.message}`, operations: ids }];
  });
}

function groupByKey(operations: Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    if (operation.key === undefined) continue;
    const id = JSON.stringify([operation.organisation, operation.name, operation.key]);
    groups.set(id, [...(groups.get(id) ?? []), operation]);
  }
  return groups;
}

function findContradiction(
  name: OperationName,
  group: Operation[],
): { message: string; answers: KeyedAnswer[] } | undefined {
  const finals = group.flatMap((operation) =>
    operation.answers
      .filter((answer) => isFinal(answer) && answer.error?.code !== "REQ_003")
      .map((answer) => ({ operation, answer })),
  );
  const successes = finals.filter(({ answer }) => isSuccess(answer));
  const refusals = finals.filter(({ answer }) => !isSuccess(answer));
  const found = (message: string, ...answers: (KeyedAnswer | undefined)[]) => ({
    message,
    answers: answers.filter((each) => each !== undefined),
  });

  if (group.every((operation) => isSameRequest(operation, group[0]!))) {
    const taken = findTakenForAnother(group);
    if (taken) return found("a repetition was taken for another request", taken);
  }
  const otherBody = successes.find(({ operation }) => !isSameRequest(operation, successes[0]!.operation));
  if (otherBody) return found("two requests succeeded under one key", successes[0], otherBody);
  const otherSuccess = successes.find(
    ({ answer }) => !isSameJson(factsOf(answer.data), factsOf(successes[0]!.answer.data)),
  );
  if (otherSuccess) return found("two successes differ", successes[0], otherSuccess);
  const refusedLater = refusals.find(({ answer }) => successes.some((one) => one.answer.at < answer.at));
  if (refusedLater) return found("a refusal followed a success", successes[0], refusedLater);
  if (!MONEY.includes(name)) return undefined;

  if (successes.length > 0 && refusals.length > 0)
    return found("a success followed a refusal", refusals[0], successes[0]);
  const otherRefusal = refusals.find(
    ({ answer }) => !isSameJson(refusalOf(answer), refusalOf(refusals[0]!.answer)),
  );
  if (otherRefusal) return found("two refusals differ", refusals[0], otherRefusal);
  const firsts = successes.filter(({ answer }) => !answer.replayed);
  return firsts.length > 1 ? found("two successes are not marked as replayed", ...firsts) : undefined;
}

function findTakenForAnother(group: Operation[]): KeyedAnswer | undefined {
  for (const operation of group)
    for (const answer of operation.answers)
      if (answer.error?.code === "REQ_003") return { operation, answer };
  return undefined;
}

function isSameRequest(one: Operation, other: Operation): boolean {
  return one.path === other.path && isSameJson(one.body, other.body);
}

function refusalOf({ status, error }: GivenAnswer): Json {
  return { status, code: error?.code, details: error?.details };
}

/** Removes the changing fields. The status of outside transfers, records and keys changes by itself. */
function factsOf(data: Json): Json {
  if (Array.isArray(data)) return data.map(factsOf);
  if (data === null || typeof data !== "object") return data;
  const isOutside = "transferId" in data && data.toWalletId === null;
  const hasOwnStatus = isOutside || "paymentType" in data || "keyId" in data;
  const fields = Object.entries(data).filter(
    ([name]) => !CHANGING.includes(name) && !(hasOwnStatus && name === "status"),
  );
  return Object.fromEntries(fields.map(([name, value]) => [name, factsOf(value)]));
}
