import { type HistoryLine, type OperationName } from "../../history";
import { type Json } from "../operations";
import { linkEntries, type Links } from "../journal/checkEffects";
import { type Journal } from "../journal/readJournal";
import { systemChangesOf } from "../journal/systemChanges";
import { moneyCallOf } from "../moneyCalls";
import { collectHistory } from "../operations";
import { type WalletFacts } from "../wallets/checkWallets";
import { SimulatedBook, USERS, walletIdOf, type Request } from "./simulatedBook";

export const ORGANISATION = "ORG";
const RATE_BPS = 500;
const CLIENTS = 5;

export interface SimulatedRun {
  lines: HistoryLine[];
  facts: WalletFacts;
  journal: Journal;
  links: Links;
}

interface Call extends Request {
  operation: number;
  attempt: number;
  client: number;
  key: string;
}

/**
 * A correct run: clients call a sequential book. Each call takes effect at one moment between its
 * start and its answer. Some answers are lost, some requests never arrive, and clients repeat both.
 */
export async function simulateRun(seed: number, operations: number): Promise<SimulatedRun> {
  const random = randomFrom(seed);
  const book = new SimulatedBook(RATE_BPS);
  const stored = new Map<string, ReturnType<SimulatedBook["answer"]>>();
  const lines: HistoryLine[] = [];
  const events: { at: number; run: (at: number) => void }[] = [];
  const later = (at: number, run: (at: number) => void) => events.push({ at, run });
  let begun = 0;

  const next = (client: number) => (at: number) => {
    if (begun === operations) return;
    begun += 1;
    const request = chooseRequest(random, book);
    send({ ...request, operation: begun, attempt: 1, client, key: `key-${begun}` }, at);
  };
  const send = (call: Call, at: number): void => {
    const { operation, attempt, client, name, body, path, method, key } = call;
    const asked = method === "GET" ? {} : { key, body };
    lines.push({
      ...{ kind: "call", at, operation, attempt, client, organisation: ORGANISATION },
      ...{ name, method, path, ...asked },
    });
    const fate = attempt > 3 ? 1 : random();
    const afterwards = later.bind(null, at + 1 + random() * 10);
    if (fate > 0.12) afterwards((committedAt) => commit(call, committedAt, fate > 0.25));
    else afterwards((lostAt) => lose(call, lostAt));
  };
  const commit = (call: Call, at: number, isAnswered: boolean): void => {
    const replayed = stored.has(call.key);
    const answer = stored.get(call.key) ?? book.answer(call);
    if (call.method !== "GET") stored.set(call.key, answer);
    const { status, body } = answer;
    later(at + random() * 10, (answeredAt) => {
      if (!isAnswered) return lose(call, answeredAt);
      const { operation, attempt } = call;
      lines.push({ kind: "answer", at: answeredAt, operation, attempt, replayed, status, body });
      book.learn(body.data);
      later(answeredAt + random() * 5, next(call.client));
    });
  };
  const lose = (call: Call, at: number): void => {
    const { operation, attempt } = call;
    lines.push({ kind: "lost", at, operation, attempt, reason: "timeout" });
    // A client that gives up leaves an unknown outcome.
    if (random() < 0.05) later(at + 1, next(call.client));
    else send({ ...call, attempt: attempt + 1 }, at + 1);
  };

  for (let client = 1; client <= CLIENTS; client += 1) later(client, next(client));
  for (let event; (event = takeFirst(events));) event.run(event.at);
  const names = new Map(
    lines.flatMap((line) => (line.kind === "call" ? [[line.key, line.name] as const] : [])),
  );
  const keys = [...stored].flatMap(([key, { entryId }]) => {
    const scope = moneyCallOf(names.get(key)!)?.scope;
    return scope === undefined ? [] : [{ scope, key, requestId: entryId ?? null, code: null }];
  });
  const journal = { ...book.journal(ORGANISATION), keys };
  const links = linkEntries([journal], (await collectHistory(lines)).operations);
  const facts: WalletFacts = {
    ...{ wallets: WALLETS, frozenWallets: new Set(), rateBps: () => RATE_BPS },
    sequenceOf: (operation) => links.entryOf(operation)?.sequence,
    systemChanges: systemChangesOf(journal, links),
  };
  return { lines, facts, journal, links };
}

const WALLETS = USERS.flatMap((user) =>
  (["NORMAL", "INCENTIVE"] as const).map((type) => ({
    walletId: walletIdOf(user, type),
    organisation: ORGANISATION,
    user: `${ORGANISATION} ${user}`,
    type,
    address: `0x${walletIdOf(user, type)}`,
  })),
);

function chooseRequest(random: () => number, book: SimulatedBook): Request {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const amount = 1_000 + Math.floor(random() * 5) * 1_000;
  const user = pick(USERS);
  const other = pick(USERS.filter((each) => each !== user));
  const post = (name: OperationName, path: string, body: Json): Request => {
    return { name, method: "POST", path: `/api/wallets/${path}`, body };
  };
  const charge = post("charge", "charge", { walletId: walletIdOf(user, "NORMAL"), amount });
  const choices: (() => Request)[] = [
    () => charge,
    () => charge,
    () => {
      const incentiveAmount = pick([null, 0, 100]);
      const [payerWalletId, receiverWalletId] = [walletIdOf(user, "NORMAL"), walletIdOf(other, "NORMAL")];
      return post("payment", "payment", { payerWalletId, receiverWalletId, amount, incentiveAmount });
    },
    () => {
      const toWalletAddress = random() < 0.3 ? "0xoutside" : `0x${walletIdOf(other, "NORMAL")}`;
      return post("transfer", "transfer", {
        ...{ fromWalletId: walletIdOf(user, "NORMAL"), toWalletAddress, amount },
      });
    },
    () => {
      const walletId = walletIdOf(user, pick(["NORMAL", "INCENTIVE"]));
      return { name: "wallet.get", method: "GET", path: `/api/wallets/${walletId}`, body: { walletId } };
    },
    () => post("refund", "charge/refund", { walletId: walletIdOf(user, "NORMAL") }),
  ];
  if (book.knownCharges.length > 0)
    choices.push(() => {
      const part = random() < 0.5 ? { amount: 500 } : {};
      return post("charge.cancel", "charge/cancel", { chargeId: pick(book.knownCharges), ...part });
    });
  if (book.knownPayments.length > 0) {
    choices.push(
      () => post("payment.cancel", "payment/cancel", { paymentId: pick(book.knownPayments) }),
      () => post("payment.refund", "payment/refund", { paymentId: pick(book.knownPayments), amount: 700 }),
    );
  }
  return pick(choices)();
}

function takeFirst<T extends { at: number }>(events: T[]): T | undefined {
  let first = 0;
  for (let index = 1; index < events.length; index += 1)
    if (events[index]!.at < events[first]!.at) first = index;
  return events.splice(first, 1)[0];
}

/** Mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
