import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { openTestDatabase } from "@wonrail/kit/testing";
import type { Answer } from "../intents/decide";
import type { LedgerRequest } from "../domain/types";
import { chargeOf } from "../domain/testing/requests";
import {
  balancesOf,
  codeOf,
  keyOfBody,
  postTo,
  requestOf,
  soundLedger,
  testEngine,
  transferOf,
} from "./testing/ledger";

const ledger = soundLedger();
const origin = { requestId: newId("req"), traceparent: "" };

const together = (requests: LedgerRequest[], isDryRun = false, engine = ledger.engine) =>
  engine.postTogether({ requests, origin, isDryRun });
const codesOf = (answers: Answer[]) => answers.map(({ outcome }) => codeOf(outcome));

/** A payer with 1,000 KRW, two payees, and requests of these amounts to them in turn. */
async function scene(...amounts: bigint[]) {
  const payer = await ledger.open(undefined, "NORMAL", 1_000n);
  const payees = [await ledger.open(), await ledger.open()];
  const requests = amounts.map((amount, index) =>
    requestOf(ledger.orgId, transferOf(payer, payees[index % 2]!, amount), {
      requestId: newId("trf"),
      key: keyOfBody(newId("req"), "body", "PAYOUT"),
    }),
  );
  return { payer, payees, requests, balances: () => balancesOf(ledger, [payer, ...payees]) };
}

test("all requests of a group are posted in their order, and a retry replays them", async () => {
  const { requests, balances } = await scene(100n, 200n, 300n);
  const answers = await together(requests);
  expect(codesOf(answers)).toEqual(["posted", "posted", "posted"]);
  const sequences = answers.map(({ outcome }) => outcome.status === "posted" && outcome.entry.orgSequence);
  expect(sequences).toEqual([...sequences].sort());
  expect(await balances()).toEqual([400n, 400n, 200n]);
  const again = await together(requests);
  expect(again.every(({ replayed }) => replayed)).toBe(true);
  expect(await balances()).toEqual([400n, 400n, 200n]);
});

test("a group with a refused request stays refused on a retry, and its keys stay unused", async () => {
  const { payer, requests, balances } = await scene(600n, 500n, 100n);
  expect(codesOf(await together(requests))).toEqual(["posted", "TRF_001", "posted"]);
  expect(await balances()).toEqual([1_000n, 0n, 0n]);
  await ledger.post(chargeOf(payer, 1_000n));
  const again = await together(requests);
  expect(again.map(({ outcome, replayed }) => [codeOf(outcome), replayed])).toEqual([
    ["posted", false],
    ["TRF_001", true],
    ["posted", false],
  ]);
  expect(await balances()).toEqual([2_000n, 0n, 0n]);
  const corrected = requests.map((request) => ({ ...request, requestId: newId("trf") }));
  expect(codesOf(await together(corrected))).toEqual(["posted", "posted", "posted"]);
  expect(await balances()).toEqual([800n, 700n, 500n]);
});

test("a dry run answers what would happen and writes nothing", async () => {
  const { requests, balances } = await scene(600n, 500n, 100n);
  const entries = () => ledger.database.db.one(sql`select count(*) from entries`);
  const before = await entries();
  expect(codesOf(await together(requests, true))).toEqual(["posted", "TRF_001", "posted"]);
  expect(await entries()).toEqual(before);
  expect(codesOf(await together(requests.slice(0, 1)))).toEqual(["posted"]);
  expect(await balances()).toEqual([400n, 600n, 0n]);
});

test("a key with another body refuses the group", async () => {
  const { requests, balances } = await scene(100n, 200n);
  const [first] = requests;
  expect(codeOf(await postTo(ledger.engine, first!))).toBe("posted");
  const other = { ...first!, requestId: newId("trf"), key: { ...first!.key!, bodyHash: "0".repeat(64) } };
  expect(codesOf(await together([other, requests[1]!]))).toEqual(["REQ_003", "posted"]);
  expect(await balances()).toEqual([900n, 100n, 0n]);
});

test("groups and single commands of two replicas neither lose nor double money", async () => {
  const db = openTestDatabase(ledger.database.url, "ledger");
  const second = testEngine({ db });
  const { payer, payees, requests, balances } = await scene(...Array<bigint>(20).fill(10n));
  const singles = Array.from({ length: 20 }, () =>
    requestOf(ledger.orgId, transferOf(payer, payees[0]!, 10n), { requestId: newId("trf") }),
  );
  const answers = await Promise.all([
    together(requests),
    together(requests, false, second),
    ...singles.map((single, index) => postTo(index % 2 === 0 ? ledger.engine : second, single)),
  ]);
  expect(codesOf(answers[0])).toEqual(Array(20).fill("posted"));
  expect(await balances()).toEqual([600n, 300n, 100n]);
  await second.close();
  await db.close();
});

test("ten thousand requests are posted in one transaction, and another organisation is served meanwhile", async () => {
  const payer = await ledger.open(undefined, "NORMAL", 20_000n);
  const payees = await Promise.all(Array.from({ length: 500 }, () => ledger.open()));
  const requests = Array.from({ length: 10_000 }, (_, index) =>
    requestOf(ledger.orgId, transferOf(payer, payees[index % 500]!, 1n), { requestId: newId("trf") }),
  );
  const answers = together(requests);
  const other = requestOf(newId("org"), {
    ...{ kind: "openAccount", walletId: newId("wal"), userId: "kim", type: "NORMAL" },
  });
  expect(codeOf(await postTo(ledger.engine, other))).toBe("posted");
  expect(new Set(codesOf(await answers))).toEqual(new Set(["posted"]));
  expect(await balancesOf(ledger, [payer])).toEqual([10_000n]);
  const { count } = await ledger.database.db.one<{ count: bigint }>(sql`
    select count(distinct posted_at) as count from entries where id = any(${requests.map(({ requestId }) => requestId.slice(4))}::uuid[])`);
  expect(count).toBe(1n);
}, 120_000);
