import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { LedgerServiceService, type PostOutcome, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { messageOf, startTestLedger, stayWithinOneDay, type TestLedger } from "./commands/testing/ledger";
import { startReplica, type Replica } from "./commands/testing/replica";
import { Model, type ModelAnswer } from "./domain/testing/model";
import { requestsFrom } from "./domain/testing/requests";
import { orgAccountId } from "./store/accounts";
import type { LedgerRequest } from "./domain/types";

const CLIENTS = 6;
const BULKS = 25;
const BYTES_PER_BULK = 7 * 20;

let ledger: TestLedger;
let replicas: Replica[];
const orgs = [newId("org"), newId("org")];

beforeAll(async () => {
  ledger = await startTestLedger();
  const { url } = ledger.database;
  replicas = await Promise.all([startReplica(url), startReplica(url)]);
}, 120_000);
// The model reads the clock once per client, and limits are per day.
beforeEach(() => stayWithinOneDay(120_000), 150_000);
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await ledger.close();
});

test("random intents from many clients through two replicas are answered as by a sequential model", async () => {
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => runClient(`calm ${number}`)));
  expect(await ledger.violations()).toEqual([]);
}, 120_000);

test("random intents have one effect and one answer each while one replica is killed repeatedly", async () => {
  let done = false;
  const killing = (async () => {
    let kills = 0;
    for (; !done || kills < 2; kills += 1) {
      await sleep(150);
      await replicas[1]!.killAndRestart();
    }
    return kills;
  })();
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => runClient(`storm ${number}`)));
  done = true;
  expect(await killing).toBeGreaterThanOrEqual(2);
  expect(await ledger.violations()).toEqual([]);
}, 120_000);

/**
 * Sends random intents of its own users and compares every answer with the model's. Bulk calls
 * alternate between the replicas.
 */
async function runClient(name: string): Promise<void> {
  const clients = replicas.map(({ address }) =>
    createClient(LedgerServiceService, {
      name: "ledger",
      address,
      log: testLog(),
      registry: testRegistry(),
      defaultTimeoutMs: 5_000,
    }),
  );
  const model = new Model();
  const users = ["kim", "lee", "park"].map((user) => `${user} ${name}`);
  const ids = Array.from({ length: BULKS * 20 }, () => newId("opn"));
  const scope = {
    orgs,
    users,
    requestIdOf: (number: number) => ids[number]!,
    log: `log ${name}`,
    isShared: true,
  };
  const nowMs = Date.now();
  const openings = requestsOpening(users);
  const requests = requestsFrom(randomBytes(BULKS * BYTES_PER_BULK), scope);
  for (let at = 0, turn = 0; at < requests.length; turn += 1) {
    const bulk = turn === 0 ? openings : requests.slice(at, at + 20);
    if (turn > 0) at += 20;
    const outcomes = await postUntilAnswered(clients, turn, bulk.map(messageOf));
    bulk.forEach((request, index) => {
      expect(inModelWords(outcomes[index]!, request)).toEqual(maskOrg(model.apply(request, nowMs)));
    });
  }
  for (const client of clients) client.close();
}

function requestsOpening(users: string[]): LedgerRequest[] {
  const opening = requestsFrom(
    Uint8Array.from(
      users.flatMap((_, user) => [0, 1, 2].flatMap((type) => [0, user, type << 2, 0, 1, 0, 1])),
    ),
    { orgs, users, requestIdOf: () => newId("opn"), log: "", isShared: true },
  );
  return opening;
}

/**
 * A bulk call without an answer, or with unexecuted items, is repeated unchanged at the next
 * replica.
 */
async function postUntilAnswered(
  clients: { postBulk(request: { items: PostRequest[] }): Promise<{ outcomes: PostOutcome[] }> }[],
  turn: number,
  items: PostRequest[],
): Promise<PostOutcome[]> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      const { outcomes } = await clients[(turn + attempt) % clients.length]!.postBulk({ items });
      const unknown = outcomes.some(
        ({ outcome }) => outcome?.$case === "error" && outcome.value.code.startsWith("SYS_"),
      );
      if (!unknown) return outcomes;
    } catch {
      // No answer is no answer: the next attempt finds out.
    }
    await sleep(20);
  }
  throw new Error("never answered");
}

function inModelWords({ outcome }: PostOutcome, { orgId }: LedgerRequest): ModelAnswer {
  if (outcome?.$case !== "posted") return { code: outcome?.value.code ?? "no answer" };
  const names = new Map([
    [orgAccountId(orgId, "ORG_ISSUANCE"), "issuance"],
    [orgAccountId(orgId, "ORG_INCENTIVE"), "incentive"],
    [orgAccountId(orgId, "ORG_EXTERNAL"), "external"],
  ]);
  const typeNames = new Map(Object.entries(TransactionType).map(([name, value]) => [value, name]));
  return {
    lines: outcome.value.postings.map(({ accountId, type, amountWon, balanceAfterWon }) => {
      const own = names.get(accountId);
      const balance = own === undefined ? BigInt(balanceAfterWon) : 0n;
      return [own ?? accountId, typeNames.get(type) as never, BigInt(amountWon), balance];
    }),
  };
}

/**
 * All clients move the organisations' own accounts, so one client cannot predict their balances.
 */
function maskOrg(answer: ModelAnswer): ModelAnswer {
  if (!answer.lines) return answer;
  return {
    lines: answer.lines.map(([account, type, amount, balance]) => [
      account,
      type,
      amount,
      account.includes("_") ? balance : 0n,
    ]),
  };
}
