import { type HistoryLine } from "../../history";
import { collectHistory, mergeByKey, type Json } from "../operations";
import { randomFrom, simulateRun, type SimulatedRun } from "../testing/simulateRun";
import { checkWallets } from "./checkWallets";

const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);
const OPERATIONS = 150;

async function violationsOf({ lines, facts }: Pick<SimulatedRun, "lines" | "facts">) {
  return checkWallets(mergeByKey((await collectHistory(lines)).operations), facts);
}

test.each(SEEDS)("a correct concurrent history passes (seed %i)", async (seed) => {
  expect(await violationsOf(await simulateRun(seed, OPERATIONS))).toEqual([]);
});

test("a long history is decided, a correct one and one with an error near its end", async () => {
  const run = await simulateRun(3, 5_000);
  expect(await violationsOf(run)).toEqual([]);
  const read = answersOf(run.lines, ["wallet.get"]).at(-10)!;
  (read.body as Json).data.balance += 1;
  const [found] = await violationsOf(run);
  expect(found).toMatchObject({ message: expect.stringContaining("no order of the calls") });
  expect(found!.operations).toContain(read.operation);
});

test.each([
  [0, true],
  [1000, true],
  [500, false],
])(
  "without the ledger's order, a lost charge of 1,000 allows a balance of %i: %s",
  async (balance, isAllowed) => {
    const walletId = "wal_ann_NORMAL";
    const [call] = exchange(1, 0, 1, "charge", { walletId, amount: 1000 }, {});
    const read = exchange(2, 2, 3, "wallet.get", undefined, { walletId, balance, availableBalance: balance });
    const { sequenceOf: _, ...facts } = (await simulateRun(1, 0)).facts;
    expect((await violationsOf({ lines: [call!, ...read], facts })).length === 0).toBe(isAllowed);
  },
);

test("the correct histories contain every call, refusals and unknown outcomes", async () => {
  const runs = await Promise.all(SEEDS.map((seed) => simulateRun(seed, OPERATIONS)));
  const histories = await Promise.all(runs.map(({ lines }) => collectHistory(lines)));
  const operations = histories.flatMap((history) => history.operations);
  expect(operations.some(({ outcome }) => outcome === undefined)).toBe(true);
  expect(new Set(operations.map(({ name }) => name)).size).toBe(8);
  const codes = new Set(operations.map(({ outcome }) => outcome?.error?.code));
  for (const code of ["TRF_001", "CHG_003", "CHG_006", "CHG_007", "PAY_001", "PAY_003", "PAY_006", "PAY_008"])
    expect(codes).toContain(code);
});

/** Each changes one success of these calls. */
const PLANTED: Record<string, { names: string[]; change: (data: Json) => void }> = {
  "a charge's balance": { names: ["charge"], change: (data) => (data.balance += 1) },
  "a read balance": { names: ["wallet.get"], change: (data) => (data.balance += 1) },
  "a read available balance": { names: ["wallet.get"], change: (data) => (data.availableBalance -= 1) },
  "a refunded amount": { names: ["refund"], change: (data) => (data.amount -= 1) },
  "a cancelled sum": { names: ["charge.cancel"], change: (data) => (data.cancelledAmount += 1) },
  "a payment's split": {
    names: ["payment"],
    change: ({ breakdown }) => {
      breakdown.incentive += 1;
      breakdown.normal -= 1;
    },
  },
  "a claw-back": {
    names: ["payment.cancel"],
    change: (data) => {
      data.incentiveClawedBack += 1;
      data.keptFromNormal -= 1;
    },
  },
  "a restored part": { names: ["payment.refund"], change: ({ refund }) => (refund.restored.normal += 1) },
};

test.each(Object.entries(PLANTED))("%s that is wrong by one is found", async (_, { names, change }) => {
  for (const seed of SEEDS.slice(0, 8)) {
    const run = await simulateRun(seed, OPERATIONS);
    const operation = plant(run.lines, names, change, randomFrom(seed));
    if (operation === undefined) continue;
    expect(await violationsOf(run)).not.toEqual([]);
  }
  expect.hasAssertions();
});

test("a success instead of a refusal is found, and a refusal instead of a success", async () => {
  for (const seed of SEEDS.slice(0, 8)) {
    const run = await simulateRun(seed, OPERATIONS);
    const refused = answersOf(run.lines, ["transfer"], "TRF_001")[0];
    if (!refused) continue;
    const call = run.lines.find((line) => line.kind === "call" && line.operation === refused.operation);
    const { fromWalletId, amount } = (call as Json).body;
    Object.assign(refused, { status: 201, body: { data: { fromWalletId, toWalletId: null, amount } } });
    expect(await violationsOf(run)).not.toEqual([]);
  }
  const run = await simulateRun(1, OPERATIONS);
  const paid = answersOf(run.lines, ["charge.cancel"])[0]!;
  Object.assign(paid, { status: 400, body: { data: null, error: { code: "CHG_003", details: null } } });
  expect(await violationsOf(run)).not.toEqual([]);
  expect.hasAssertions();
});

test("an acknowledged charge that took no effect is found by the next read", async () => {
  const lines: HistoryLine[] = [
    ...exchange(
      1,
      0,
      1,
      "charge",
      { walletId: "wal_ann_NORMAL", amount: 1000 },
      { chargeId: "chg_1", walletId: "wal_ann_NORMAL", amount: 1000, cancelledAmount: 0, balance: 1000 },
    ),
    ...exchange(2, 2, 3, "wallet.get", undefined, {
      walletId: "wal_ann_NORMAL",
      balance: 0,
      availableBalance: 0,
    }),
  ];
  const { facts } = await simulateRun(1, 0);
  const found = await violationsOf({ lines, facts });
  expect(found).toEqual([expect.objectContaining({ organisation: "ORG", operations: [1, 2] })]);
  const overlapping = lines.map((line) => ({ ...line, at: line.kind === "call" ? 0 : line.at }));
  expect(await violationsOf({ lines: overlapping, facts })).toEqual([]);
});

function exchange(
  operation: number,
  from: number,
  until: number,
  name: Json,
  body: Json,
  data: Json,
): HistoryLine[] {
  const call = {
    kind: "call",
    at: from,
    operation,
    attempt: 1,
    client: 1,
    organisation: "ORG",
    name,
    method: "POST",
    path: "/",
    body,
  };
  const answer = {
    kind: "answer",
    at: until,
    operation,
    attempt: 1,
    status: 201,
    replayed: false,
    body: { data, error: null },
  };
  return [call, answer] as HistoryLine[];
}

type AnswerLine = HistoryLine & { kind: "answer" };

/** Changes one success; undefined when there is none. A replayed answer is the same object. */
function plant(lines: HistoryLine[], names: string[], change: (data: Json) => void, random: () => number) {
  const answers = answersOf(lines, names);
  const chosen = answers[Math.floor(random() * answers.length)];
  if (!chosen) return undefined;
  change((chosen.body as Json).data);
  return chosen.operation;
}

function answersOf(lines: HistoryLine[], names: string[], code?: string): AnswerLine[] {
  const called = new Map(
    lines.flatMap((line) => (line.kind === "call" ? [[line.operation, line.name]] : [])),
  );
  return lines.filter((line): line is AnswerLine => {
    if (line.kind !== "answer" || !names.includes(called.get(line.operation)!)) return false;
    return (line.body as Json).error?.code === code;
  });
}
