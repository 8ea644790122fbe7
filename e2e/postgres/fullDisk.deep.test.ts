import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { rawSql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { SERVICES } from "@wonrail/local/services";
import { type Kind, UNFINISHED_WORK, untilNone } from "../money/unfinishedWork";
import { openWallet } from "../money/scenes";
import { type Answer, type Api, type Json } from "../support/api";
import { asAdmin } from "../support/asAdmin";
import { newOrganisation } from "../support/operators";
import { missingPayments } from "../support/missingPayments";
import { reconciled } from "../support/reconciled";
import { reportSkipped } from "../support/reportSkipped";
import { startStack, type TestStack } from "../support/startStack";
import { verifyLedger } from "../support/verifyLedger";
import { collectFailureLogs } from "../support/collectFailureLogs";
import { missingSmallDiskReason } from "./mountedDisk";
import { type SmallDisk, startSmallDisk } from "./smallDisk";

// The disk of the services' and the feeds' databases is full: first tables cannot grow, then
// PostgreSQL's log cannot, and it crashes without recovery. Requests succeed or fail completely,
// and everything resumes when there is room.

jest.setTimeout(300_000);

const CALLERS = 4;
const PAUSE_MS = 100;
const MIN_ORDERS = 20;
/** Duration of each phase: no room for tables, no room for the log either. */
const FULL_MS = 5_000;
/** A request's time limit plus two seconds. */
const IN_TIME_MS = 12_000;
const RECOVERY_MS = 60_000;
const START_WON = 1_000_000;
const MOVED_WON = 100;
const CHARGED_WON = 1_000;

/** Refusals after which the same request may be repeated. */
const REFUSALS = ["503 SYS_002", "504 SYS_003", "409 REQ_002"];

interface Order {
  kind: "payment" | "transfer" | "charge";
  key: string;
  first: Answer<Json>;
}

const why = missingSmallDiskReason();
if (why !== undefined) reportSkipped(`PostgreSQL's disk does not become full: ${why}`);

(why === undefined ? describe : describe.skip)("PostgreSQL's disk is full", () => {
  let disk: SmallDisk;
  let stack: TestStack;
  let api: Api;
  let wallets: Record<"payer" | "shop" | "giver" | "taker" | "saver" | "still", Json>;
  let pidsBefore: Record<string, number | undefined>;
  const orders: Order[] = [];
  /** Invalid answers since the last check. */
  const wrong: string[] = [];

  beforeAll(async () => {
    disk = await startSmallDisk();
    stack = await startStack({ bus: "feed", postgresUrl: disk.adminUrl });
    ({ api } = await newOrganisation(stack.stack(), "--daily-limit", "1000000000"));
    const open = (amount: number) => openWallet(api, amount);
    const [payer, giver] = [await open(START_WON), await open(START_WON)];
    const [shop, taker, saver] = [await open(0), await open(0), await open(0)];
    wallets = { payer, shop, giver, taker, saver, still: await open(CHARGED_WON) };
    pidsBefore = await pids();
  });
  afterAll(async () => {
    disk?.free();
    await stack?.stop();
    await disk?.remove();
  });

  test("requests succeed, or fail in time with a retryable code, while the disk is full", async () => {
    let running = true;
    const repeatWhileRunning = async (ask: (turn: number) => Promise<void>): Promise<void> => {
      for (let turn = 0; running; turn += 1, await sleep(PAUSE_MS)) await ask(turn);
    };
    const callers = Array.from({ length: CALLERS }, (_, number) =>
      repeatWhileRunning(async (turn) => {
        const kind = (["payment", "transfer", "charge"] as const)[(number + turn) % 3]!;
        const key = randomUUID();
        orders.push({ kind, key, first: await inTime(() => send(kind, key)) });
      }),
    );
    const working = Promise.all([...callers, repeatWhileRunning(readUntouchedWallet)]);
    try {
      await eventually(() => expect(orders.filter(isDone).length).toBeGreaterThan(MIN_ORDERS));
      disk.fill();
      await sleep(FULL_MS);
      await disk.useUpLog();
      await sleep(FULL_MS);
    } finally {
      running = false;
      await working;
    }
    expect(wrong.splice(0)).toEqual([]);
    expect(disk.log()).toMatch(/ERROR: .*No space left on device/);
    expect(disk.log()).toMatch(/PANIC: .*No space left on device/);
    expect(orders.filter((order) => !isDone(order)).length).toBeGreaterThan(0);
  });

  test("each key takes effect once when the disk has room again, and stored answers are replayed", async () => {
    disk.free();
    await disk.untilUp();
    const endMs = Date.now() + RECOVERY_MS;
    const again: Answer<Json>[] = [];
    for (let at = 0; at < orders.length; at += CALLERS) {
      const some = orders.slice(at, at + CALLERS);
      again.push(...(await Promise.all(some.map((order) => untilDone(order, endMs)))));
    }
    expect(wrong.splice(0)).toEqual([]);
    const answersOf = (all: Answer<Json>[]) =>
      orders.flatMap((order, at) => (isDone(order) ? [[all[at]!.status, all[at]!.body.data]] : []));
    expect(answersOf(again)).toEqual(answersOf(orders.map(({ first }) => first)));
    expect(await balances()).toEqual(balancesAfter());
    const paid = new Set(
      again.flatMap(({ body }, at) => (orders[at]!.kind === "payment" ? [body.data.paymentId] : [])),
    );
    expect(paid.size).toBe(count("payment"));
    expect(await missingPayments(stack, paid)).toEqual([]);
  });

  test("the stack recovers without restarts, dead letters or differences in the books", async () => {
    await stack.untilReady();
    expect(await pids()).toEqual(pidsBefore);
    await untilNone(stack.stack(), Object.keys(UNFINISHED_WORK) as Kind[], 60_000);
    expect(await deadLetters()).toEqual([]);
    expect(await verifyLedger(stack.stack())).toContain("0 violations");
    expect((await reconciled(stack.stack())).drifts).toBe(0);
  });

  function send(kind: Order["kind"], idempotencyKey: string): Promise<Answer<Json>> {
    const { payer, shop, giver, taker, saver } = wallets;
    const [path, body] = {
      payment: [
        "/api/wallets/payment",
        {
          payerWalletId: payer.walletId,
          receiverWalletId: shop.walletId,
          amount: MOVED_WON,
          incentiveAmount: 0,
        },
      ],
      transfer: [
        "/api/wallets/transfer",
        { fromWalletId: giver.walletId, toWalletAddress: taker.walletAddress, amount: MOVED_WON },
      ],
      charge: ["/api/wallets/charge", { walletId: saver.walletId, amount: CHARGED_WON }],
    }[kind] as [string, Json];
    return api.call("POST", path, body, { idempotencyKey });
  }

  /** A read returns the right value or fails. */
  async function readUntouchedWallet(): Promise<void> {
    const { status, body } = await inTime(() => api.call("GET", `/api/wallets/${wallets.still.walletId}`));
    if (status === 200 && body.data.balance !== CHARGED_WON) wrong.push(`a balance of ${body.data.balance}`);
  }

  async function inTime(ask: () => Promise<Answer<Json>>): Promise<Answer<Json>> {
    const startedMs = performance.now();
    const answer = await ask();
    const tookMs = Math.round(performance.now() - startedMs);
    const { status, headers, body } = answer;
    const codeText = `${status} ${body.error?.code}`;
    if (status >= 300 && !REFUSALS.includes(codeText)) wrong.push(codeText, ...collectFailureLogs(stack));
    if (status === 503 && !(Number(headers.get("retry-after")) > 0))
      wrong.push(`${codeText} without Retry-After`);
    if (tookMs > IN_TIME_MS) wrong.push(`${codeText} after ${tookMs} ms`);
    return answer;
  }

  async function untilDone({ kind, key }: Order, endMs: number): Promise<Answer<Json>> {
    for (; ; await sleep(PAUSE_MS)) {
      const answer = await inTime(() => send(kind, key));
      if (answer.status < 300) return answer;
      if (Date.now() > endMs) throw new Error(`${kind} has no outcome: ${JSON.stringify(answer.body.error)}`);
    }
  }

  async function balances(): Promise<Record<string, number>> {
    const found = Object.entries(wallets).map(async ([name, { walletId }]) => {
      const { balance, availableBalance } = await api.get(`/api/wallets/${walletId}`);
      expect(availableBalance).toBe(balance);
      return [name, balance] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  }

  /** Each order was repeated until done, and counts once. */
  function balancesAfter(): Record<string, number> {
    const [paid, given] = [MOVED_WON * count("payment"), MOVED_WON * count("transfer")];
    return {
      ...{ payer: START_WON - paid, shop: paid },
      ...{ giver: START_WON - given, taker: given },
      ...{ saver: CHARGED_WON * count("charge"), still: CHARGED_WON },
    };
  }

  const count = (kind: Order["kind"]): number => orders.filter((order) => order.kind === kind).length;

  const pids = async (): Promise<Record<string, number | undefined>> =>
    Object.fromEntries((await stack.statuses()).map(({ name, pid }) => [name, pid]));

  /** The dead letters of all services. */
  async function deadLetters(): Promise<unknown[]> {
    const letters = SERVICES.map(({ schema }) =>
      asAdmin(stack.stack(), schema, (db) => db.query(rawSql("select * from dead_letters"))),
    );
    return (await Promise.all(letters)).flat();
  }
});

function isDone({ first }: Order): boolean {
  return first.status < 300;
}
