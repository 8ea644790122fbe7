import { newId } from "@wonrail/kit/contract/ids";
import { type Api } from "../support/api";
import { type Fixtures } from "./hostile";

export interface Request {
  method: string;
  path: string;
  body?: object;
}

/** Objects of another organisation, by kind. */
export type Foreign = Record<
  "wal" | "trf" | "chg" | "ccl" | "rfd" | "pay" | "pcl" | "prf" | "pyo" | "txn" | "evt" | "whk" | "key",
  string
>;

/**
 * Every request of the contract with an id, by the id's kind. foreignIds.test.ts checks
 * completeness.
 */
export function requestsFor(fixtures: Fixtures): [keyof Foreign, (id: string) => Request][] {
  const post = (path: string, body: object): Request => ({ method: "POST", path, body });
  const get = (path: string): Request => ({ method: "GET", path });
  const patch = (path: string, body: object): Request => ({ method: "PATCH", path, body });
  const { walletId, otherWalletId, otherAddress: toWalletAddress } = fixtures;
  const amount = 1_000;
  const note = { metadata: { a: "b" } };
  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString();
  return [
    ["wal", (id) => get(`/api/wallets/${id}`)],
    ["wal", (id) => get(`/api/wallets/${id}/transactions`)],
    ["wal", (id) => get(`/api/wallets/${id}/balance`)],
    ["wal", (id) => patch(`/api/wallets/${id}`, { metadata: { a: "b" } })],
    ["wal", (id) => ({ method: "POST", path: `/api/wallets/${id}/deactivate` })],
    ["wal", (id) => get(`/api/wallets/transfer?walletId=${id}`)],
    ["wal", (id) => get(`/api/wallets/charge?walletId=${id}`)],
    ["wal", (id) => get(`/api/wallets/payment?walletId=${id}`)],
    ["wal", (id) => get(`/api/wallets/charge/refund?walletId=${id}`)],
    ["trf", (id) => patch(`/api/wallets/transfer/${id}`, note)],
    ["chg", (id) => patch(`/api/wallets/charge/${id}`, note)],
    ["ccl", (id) => patch(`/api/wallets/charge/cancel/${id}`, note)],
    ["rfd", (id) => patch(`/api/wallets/charge/refund/${id}`, note)],
    ["pay", (id) => patch(`/api/wallets/payment/${id}`, note)],
    ["pcl", (id) => patch(`/api/wallets/payment/cancel/${id}`, note)],
    ["prf", (id) => patch(`/api/wallets/payment/refund/${id}`, note)],
    ["txn", (id) => patch(`/api/transaction/${id}`, note)],
    ["wal", (id) => post("/api/wallets/transfer", { fromWalletId: id, toWalletAddress, amount })],
    ["wal", (id) => post("/api/wallets/charge", { walletId: id, amount })],
    ["wal", (id) => post("/api/wallets/charge/refund", { walletId: id })],
    [
      "wal",
      (id) => post("/api/wallets/payment", { payerWalletId: id, receiverWalletId: otherWalletId, amount }),
    ],
    ["wal", (id) => post("/api/wallets/payment", { payerWalletId: walletId, receiverWalletId: id, amount })],
    ["trf", (id) => get(`/api/wallets/transfer/${id}`)],
    ["chg", (id) => get(`/api/wallets/charge/${id}`)],
    ["rfd", (id) => get(`/api/wallets/charge/refund/${id}`)],
    ["chg", (id) => post("/api/wallets/charge/cancel", { chargeId: id })],
    ["pay", (id) => get(`/api/wallets/payment/${id}`)],
    ["pay", (id) => post("/api/wallets/payment/cancel", { paymentId: id })],
    ["pay", (id) => post("/api/wallets/payment/refund", { paymentId: id, amount })],
    ["wal", (id) => post("/api/payouts", { fromWalletId: id, rows: [{ toWalletAddress, amount }] })],
    ["wal", (id) => get(`/api/reports/statements?from=${yesterday}&walletId=${id}`)],
    ["pyo", (id) => get(`/api/payouts/${id}`)],
    ["pyo", (id) => get(`/api/payouts/${id}/rows`)],
    ["evt", (id) => get(`/api/events/${id}`)],
    ["key", (id) => get(`/api/wallet-auth/keys/${id}`)],
    ["key", (id) => ({ method: "DELETE", path: `/api/wallet-auth/keys/${id}` })],
    ["wal", (id) => post("/api/sandbox/deposits", { walletId: id, amount })],
    ["trf", (id) => ({ method: "POST", path: `/api/sandbox/settlements/${id}/fail` })],
    ["chg", (id) => ({ method: "POST", path: `/api/sandbox/settlements/${id}/hold` })],
    ["pay", (id) => ({ method: "POST", path: `/api/sandbox/settlements/${id}/release` })],
    ["key", (id) => ({ method: "POST", path: `/api/sandbox/keys/${id}/expire` })],
    ["whk", (id) => get(`/api/webhooks/${id}`)],
    ["whk", (id) => patch(`/api/webhooks/${id}`, { description: "mine" })],
    ["whk", (id) => ({ method: "DELETE", path: `/api/webhooks/${id}` })],
    ["whk", (id) => post(`/api/webhooks/${id}/rotate-secret`, {})],
    ["whk", (id) => ({ method: "POST", path: `/api/webhooks/${id}/test` })],
    ["whk", (id) => post(`/api/webhooks/${id}/replay`, { failed: true })],
    ["whk", (id) => get(`/api/webhooks/${id}/deliveries`)],
    ["wal", (id) => get(`/api/events?order=desc&objectId=${id}`)],
    ["txn", (id) => get(`/api/transaction/${id}`)],
    ["txn", (id) => patch(`/api/transaction/${id}/status`, { status: "CONFIRMED" })],
    ["txn", (id) => patch(`/api/transaction/${id}/schedule`, { scheduledAt: "2099-01-01T00:00:00Z" })],
  ];
}

/** Sends each request with a foreign id and with an unknown id. Returns the two answers. */
export async function compareForeignAnswers(
  api: Api,
  fixtures: Fixtures,
  foreign: Foreign,
): Promise<{ request: string; foreign: string; absent: string }[]> {
  const asked = [];
  for (const [kind, make] of requestsFor(fixtures)) {
    const answers = [];
    for (const id of [foreign[kind], newId(kind)]) answers.push(await answerTo(api, make(id), id));
    const { method, path } = make("…");
    asked.push({ request: `${method} ${path}`, foreign: answers[0]!, absent: answers[1]! });
  }
  return asked;
}

/** Status, relevant headers and body, without request id, time and the requested id. */
export async function answerTo(api: Api, { method, path, body }: Request, id: string): Promise<string> {
  const answer = await api.call(method, path, body);
  const { requestId: _requestId, timestamp: _timestamp, ...said } = answer.body;
  const headers = [...answer.headers.keys()].sort();
  return JSON.stringify([answer.status, headers, said]).replaceAll(id, "…");
}
