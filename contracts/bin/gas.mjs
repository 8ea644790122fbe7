#!/usr/bin/env node
// Measures the cost of whole transactions on a real node: intrinsic gas, calldata and execution.
// Writes gas.json and the table in README.md. With --check it fails when they differ or exceed a
// limit.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ethers } from "ethers";
import { startAnvil } from "../tools/anvil.mjs";
import { batchOf, stepWriter } from "../tools/batches.mjs";
import { UsageError, artifact, run } from "../tools/chain.mjs";
import { deploy } from "../tools/deployment.mjs";
import { home } from "../tools/foundry.mjs";

const WALLETS = 100;
const SINGLE_LIMIT = 52_000;
const BATCH_LIMIT = 27_000;
const validBefore = 4_102_444_800;
const won = (amount) => BigInt(amount) * 1_000_000n;
const anywhere = (text) => BigInt(ethers.id(text));

// Consecutive ids, as the relayer assigns them: a queue number in the high bits, a counter in the
// low ones.
let counter = 0;
const nextId = () => (7n << 64n) | BigInt(++counter);

await run(async () => {
  const measured = await measure();
  for (const [name, gas, limit] of limited(measured)) {
    if (gas > limit) throw new UsageError(`${name}: ${gas} gas is more than the limit of ${limit}`);
  }
  const [single, batch100] = [measured.singles, measured.batches].map(Object.fromEntries);
  const text = JSON.stringify({ single, batch100 }, null, 2) + "\n";
  const page = readFileSync(join(home, "README.md"), "utf8");
  const wantedPage = page.replace(
    /<!-- gas -->[^]*<!-- \/gas -->/,
    `<!-- gas -->\n${table(measured)}<!-- /gas -->`,
  );
  if (!process.argv.includes("--check")) {
    writeFileSync(join(home, "gas.json"), text);
    writeFileSync(join(home, "README.md"), wantedPage);
  } else if (readFileSync(join(home, "gas.json"), "utf8") !== text || page !== wantedPage) {
    throw new UsageError(
      `Gas differs from gas.json or from the table in README.md. If it is meant: npm run gas -w @wonrail/contracts\n${text}`,
    );
  }
});

/**
 * The gas limits: for a transfer alone, and for a payment in a batch between wallets that hold
 * tokens.
 */
function limited({ singles, batches }) {
  return [[...singles[0], SINGLE_LIMIT], ...batches.slice(0, 5).map((row) => [...row, BATCH_LIMIT])];
}

async function measure() {
  const { provider, stop } = await startAnvil();
  try {
    const stage = await setStage(provider);
    return { singles: await measureSingles(stage), batches: await measureBatches(stage) };
  } finally {
    await stop();
  }
}

async function setStage(provider) {
  const people = ["deployer", "admin", "operator"].map(
    (name) => new ethers.Wallet(ethers.id(name), provider),
  );
  const [deployer, admin, operator] = people;
  for (const { address } of people)
    await provider.send("anvil_setBalance", [address, "0x3635c9adc5dea00000"]);
  const accounts = {
    admin: admin.address,
    operator: operator.address,
    pauser: admin.address,
    blocklister: admin.address,
  };
  const { deployment } = await deploy({
    provider,
    key: deployer.signingKey,
    accounts,
    adminDelaySeconds: 86_400n,
    mintAllowanceWon: 10n ** 12n,
    mintCapPerDayWon: 10n ** 12n,
    confirmations: 1,
  });
  const at = (name) => new ethers.Contract(deployment.contracts[name], artifact(name).abi, operator);
  const [token, manager] = [at("WonToken"), at("PaymentManager")];
  const send = async (call, args) => (await call(...args, { gasLimit: 16_000_000 })).wait();
  const execute = async (operations) => {
    const { logs, gasUsed } = await send(manager.execute, batchOf(operations));
    const executed = logs.filter((log) => manager.interface.parseLog(log)?.name === "OperationExecuted");
    if (executed.length !== operations.length) throw new Error("an operation that was to be measured failed");
    return gasUsed;
  };
  const wallet = (name) => new ethers.Wallet(ethers.id(name));
  const list = (name, length = WALLETS) => Array.from({ length }, (_, i) => wallet(`${name} ${i}`));
  const steps = stepWriter({ chainId: deployment.chainId, token: token.target, validBefore });
  const [payers, receivers, savers, singles] = [
    list("payer"),
    list("receiver"),
    list("saver"),
    list("single", 5),
  ];
  for (const wallets of [payers, receivers, savers, singles]) {
    await execute(wallets.map(({ address }) => [nextId(), [steps.mint(address, won(100_000_000))]]));
  }
  return { token, send, execute, steps, payers, receivers, savers, singles, wallet };
}

async function measureSingles({ token, send, execute, steps, singles, receivers, wallet }) {
  const overload = (form) =>
    token[`transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,${form})`];
  const direct = (payer, to, nonce, asBytes) => {
    const [, from, , value, , nonce32] = steps.pay(payer, to, won(12_345), nonce);
    const { signature } = steps.authorize(payer, "TransferWithAuthorization", { to, value }, nonce);
    const fields = [from, to, value, 0, validBefore, nonce32];
    const { v, r, s, serialized } = signature;
    if (asBytes) return gasOf(send(overload("bytes"), [...fields, serialized]));
    return gasOf(send(overload("uint8,bytes32,bytes32"), [...fields, v, r, s]));
  };
  const [a, b, c, d, e] = singles;
  const to = receivers.at(-1).address;
  const one = async (...list) => execute([[nextId(), list]]);
  const value = won(12_345);
  return inOrder({
    "transfer, straight at the token": () => direct(a, to, 0, false),
    "the same, signature as bytes": () => direct(a, to, 1, true),
    "the same, random nonce": () => direct(a, to, anywhere("nonce"), false),
    "the same, to an address without tokens": () => direct(a, wallet("nobody").address, 2, false),
    "batch of one payment": () => one(steps.pay(b, to, value, 0)),
    "batch of one payment in two legs with accrual": () =>
      one(steps.pay(c, to, value, 0), steps.pay(d, to, value, 0), steps.mint(d.address, value)),
    "batch of one mint": () => one(steps.mint(to, value)),
    "batch of one burn": () => one(steps.burn(e, value, 0)),
  });
}

async function measureBatches({ execute, steps, payers, receivers, savers, wallet }) {
  const used = new Map();
  const pay = (from, to, i, nonce = nextNonce(used, from)) =>
    steps.pay(from, to.address, won(10_000 + i), nonce);
  const each = async (make, ids = nextId) => {
    const operations = Array.from({ length: WALLETS }, (_, i) => [ids(i), make(i)]);
    return (await execute(operations)) / BigInt(WALLETS);
  };
  const reward = won(100);
  const cases = {
    "payment, 200 wallets, each its first time": () => each((i) => [pay(payers[i], receivers[i], i)]),
    "payment, 200 wallets": () => each((i) => [pay(payers[i], receivers[i], i)]),
    "payment, 100 wallets to one": () => each((i) => [pay(payers[i], receivers[0], i)]),
    "payment, one wallet to 100": () => each((i) => [pay(payers[0], receivers[i], i % 10)]),
    "payment, among 20 wallets": () => each((i) => [pay(payers[i % 10], receivers[(i * 7) % 10], i)]),
    "payment with accrual, 200 wallets": () =>
      each((i) => [pay(payers[i], receivers[i], i), steps.mint(payers[i].address, reward)]),
    "payment in two legs with accrual, 300 wallets": () =>
      each((i) => [
        pay(savers[i], receivers[i], i),
        pay(payers[i], receivers[i], i),
        steps.mint(savers[i].address, reward),
      ]),
    "payment, 100 wallets to new addresses": () => each((i) => [pay(payers[i], wallet(`new ${i}`), i)]),
    "payment, 200 wallets, nonces 24 apart": () =>
      average(16, (k) => each((i) => [pay(savers[i], receivers[i], i, BigInt(24 * (k + 1)))])),
    "payment, random nonces": () => each((i) => [pay(payers[i], receivers[i], i, anywhere(`nonce ${i}`))]),
    "payment, random operation ids": () =>
      each(
        (i) => [pay(payers[i], receivers[i], i)],
        (i) => anywhere(`id ${i}`),
      ),
    "mint to 100 wallets": () => each((i) => [steps.mint(payers[i].address, won(50_000))]),
    "burn from 100 wallets": () => each((i) => [steps.burn(payers[i], won(50), nextNonce(used, payers[i]))]),
  };
  return inOrder(cases);
}

async function gasOf(receipt) {
  return (await receipt).gasUsed;
}

function nextNonce(used, { address }) {
  const nonce = used.get(address) ?? 0n;
  used.set(address, nonce + 1n);
  return nonce;
}

async function average(count, measureOne) {
  let sum = 0n;
  for (let k = 0; k < count; ++k) sum += await measureOne(k);
  return sum / BigInt(count);
}

async function inOrder(cases) {
  const measured = [];
  for (const [name, measureOne] of Object.entries(cases)) measured.push([name, Number(await measureOne())]);
  return measured;
}

function table({ singles, batches }) {
  const rows = (list) => list.map(([name, gas]) => `| ${name} | ${gas.toLocaleString("en-US")} |\n`).join("");
  const single = `| one transaction | gas |\n|---|---:|\n${rows(singles)}`;
  return `${single}\n| batch of 100 | gas for each |\n|---|---:|\n${rows(batches)}`;
}
