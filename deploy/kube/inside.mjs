// smoke.sh runs this in its own pod, on the gateway's image: `story` once, or `load` until SIGTERM
// or its end. The last line of output is the result as JSON.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const { GATEWAY, API_KEY_FILE, WORKERS = "4", SECONDS = "120", PAUSE_MS = "0" } = process.env;
const key = readFileSync(API_KEY_FILE, "utf8").trim();
const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const FINAL_WITHIN_MS = 60_000;
const RETRY_AFTER_MS = 500;
const tookMs = [];
const refusals = {};
const failures = [];

/** Retries a request without an answer or effect once, with the same key, as a good client does. */
async function ask(method, path, body) {
  const headers = { "x-api-key": key, "content-type": "application/json", "idempotency-key": randomUUID() };
  if (method === "GET") delete headers["idempotency-key"];
  for (let attempt = 1; ; attempt += 1) {
    const started = performance.now();
    const problem = await fetch(GATEWAY + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    }).then(
      async (response) => {
        const { success, data, error } = await response.json();
        tookMs.push(performance.now() - started);
        return success
          ? { data }
          : { text: `${response.status} ${error.code}`, again: response.status >= 500 };
      },
      (error) => ({ text: error.cause?.code ?? error.name, again: true }),
    );
    if (problem.data) return problem.data;
    refusals[problem.text] = (refusals[problem.text] ?? 0) + 1;
    if (!problem.again || attempt === 2) throw new Error(`${method} ${path}: ${problem.text}`);
    await sleep(RETRY_AFTER_MS);
  }
}

const wallet = (userId, walletType = "NORMAL") => ask("POST", "/api/wallets", { userId, walletType });
const balanceOf = async ({ walletId }) => Number((await ask("GET", `/api/wallets/${walletId}`)).balance);
const expect = (what, found, wanted) => {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
};

async function untilFinal(path, done) {
  for (const endMs = Date.now() + FINAL_WITHIN_MS; Date.now() < endMs; await sleep(500)) {
    const found = await ask("GET", path);
    if (done(found)) return found;
  }
  throw new Error(`${path} is not final after ${FINAL_WITHIN_MS} ms`);
}

/**
 * Charge, transfer, payment, cancellation, payout and refund with the rest. Leaves a wallet for an
 * operator to reopen.
 */
async function story() {
  const tag = randomUUID().slice(0, 8);
  const [alice, shop] = [await wallet(`alice-${tag}`), await wallet(`shop-${tag}`)];
  const incentive = await wallet(`alice-${tag}`, "INCENTIVE");
  await ask("POST", "/api/wallets/charge", { walletId: alice.walletId, amount: 50_000 });
  await ask("POST", "/api/wallets/charge", { walletId: incentive.walletId, amount: 2_000 });
  await ask("POST", "/api/wallets/transfer", {
    fromWalletId: alice.walletId,
    toWalletAddress: shop.walletAddress,
    amount: 1_000,
  });
  expect("alice after the transfer", await balanceOf(alice), 49_000);
  const order = { payerWalletId: alice.walletId, receiverWalletId: shop.walletId, amount: 12_000 };
  const { paymentId, breakdown } = await ask("POST", "/api/wallets/payment", order);
  expect("incentive in the payment", Number(breakdown.incentive), 2_000);
  await ask("POST", "/api/wallets/payment/cancel", { paymentId });
  expect("alice after the cancellation", await balanceOf(alice), 49_000);
  const { settlement } = await untilFinal(
    `/api/wallets/payment/${paymentId}`,
    (it) => it.cancellation.settlement.status === "CONFIRMED",
  );
  const out = await ask("POST", "/api/wallets/transfer", {
    fromWalletId: alice.walletId,
    toWalletAddress: OUTSIDE,
    amount: 500,
  });
  const moved = await untilFinal(
    `/api/wallets/transfer/${out.transferId}`,
    (it) => it.status === "COMPLETED",
  );
  await ask("POST", "/api/wallets/charge/refund", { walletId: alice.walletId });
  expect("alice after the refund", await balanceOf(alice), 0);
  const { walletId: deactivatedWallet } = await wallet(`closed-${tag}`);
  await ask("POST", `/api/wallets/${deactivatedWallet}/deactivate`);
  return {
    paymentFinalInBlock: settlement.blockNumber,
    outsideTransferId: out.transferId,
    outsideTransfer: moved.settlement.txHash,
    deactivatedWallet,
  };
}

/**
 * Each worker moves money between two wallets of its own. At the end their balances must equal the
 * answers.
 */
async function worker(index, running) {
  const [payer, shop] = [
    await wallet(`payer-${index}-${randomUUID()}`),
    await wallet(`shop-${index}-${randomUUID()}`),
  ];
  const wanted = { payer: 0, shop: 0 };
  const commands = [
    () =>
      ask("POST", "/api/wallets/charge", { walletId: payer.walletId, amount: 3_000 }).then(
        () => (wanted.payer += 3_000),
      ),
    () =>
      move("transfer", { fromWalletId: payer.walletId, toWalletAddress: shop.walletAddress, amount: 1_000 }),
    () => move("payment", { payerWalletId: payer.walletId, receiverWalletId: shop.walletId, amount: 1_000 }),
    () => balanceOf(payer),
  ];
  const move = async (what, body) => {
    const { breakdown } = await ask("POST", `/api/wallets/${what}`, body);
    wanted.payer -= Number(breakdown?.normal ?? body.amount); // what incentive paid did not come from here
    wanted.shop += body.amount;
  };
  for (let turn = 0; running(); turn += 1) {
    await commands[turn % commands.length]().catch((error) => failures.push(error.message));
    await sleep(Number(PAUSE_MS));
  }
  if (failures.length > 0) return;
  expect(`payer ${index}`, await balanceOf(payer), wanted.payer);
  expect(`shop ${index}`, await balanceOf(shop), wanted.shop);
}

async function load() {
  let stopped = false;
  process.once("SIGTERM", () => (stopped = true));
  const endMs = Date.now() + Number(SECONDS) * 1_000;
  console.log("running");
  await Promise.all(
    Array.from({ length: Number(WORKERS) }, (_, index) =>
      worker(index, () => !stopped && Date.now() < endMs),
    ),
  );
  tookMs.sort((a, b) => a - b);
  const at = (share) => Math.round(tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0);
  return {
    answers: tookMs.length,
    retried: refusals,
    failed: failures,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    maxMs: at(1),
  };
}

try {
  const printed = await (process.argv[2] === "load" ? load() : story());
  console.log(JSON.stringify(printed));
  process.exit(failures.length === 0 ? 0 : 1);
} catch (error) {
  console.log(JSON.stringify({ error: error.message, refusals }));
  process.exit(1);
}
