// Faults of the chain and its nodes: operations wait with a reason and resume by themselves.
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@wonrail/kit/testing";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { findSettlements, type StoredSettlement } from "@wonrail/chain-relayer/settlement/store/settlements";
import {
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { managerAbi, tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type RpcProxy, startRpcProxy } from "../support/rpcProxy";
import { readChain } from "./support/audit";
import { NO_LIMIT, openBook, type OperationState, readOperations, type TestWallet } from "./support/book";
import { openWorld, type World } from "./support/world";

const BLOCK_MS = 150;
const OUTSIDE = "0x00000000000000000000000000000000000D00D1";
const SOMEBODY = "0x00000000000000000000000000000000000D00D2";

let world: World;
let proxy: RpcProxy;
let book: ReturnType<typeof openBook>;
let payer: TestWallet;
let receiver: TestWallet;

beforeAll(async () => {
  world = await openWorld({
    rpcUrlsFor: async (url) => {
      proxy = await startRpcProxy(url, 1);
      return proxy.url;
    },
    relayerEnv: {
      CHAIN_RPC_TIMEOUT_MS: "500",
      FEE_CAP_GWEI: "100",
      OUTSIDE_LIFE_MS: "20000",
      REPLACE_AFTER_MS: "2000",
      RESEND_AFTER_MS: "700",
    },
  });
  world.node.run(BLOCK_MS);
  for (const address of [world.admin, world.operator])
    await world.node.rpc("anvil_impersonateAccount", [address]);
  await world.node.rpc("anvil_setBalance", [world.admin, "0x56bc75e2d63100000"]);
  book = openBook(world);
  payer = await book.openWallet("payer");
  receiver = await book.openWallet("receiver");
  const charge = await book.post("chg", {
    $case: "charge",
    value: { walletId: payer.walletId, amountWon: "900000" },
  });
  await until(charge, { state: "CONFIRMED" });
}, 240_000);
afterAll(async () => {
  await world.close();
  await proxy.close();
}, 120_000);

test("a transfer waits while the token is paused, and settles afterwards", async () => {
  await asAdmin(tokenAbi.encodeFunctionData("pause"));
  const id = await transfer("100");
  await until(id, { wait_reason: "EnforcedPause" });
  await asAdmin(tokenAbi.encodeFunctionData("unpause"));
  await until(id, { state: "CONFIRMED" });
}, 180_000);

test("a transfer waits while the signer has no gas, and settles when it has", async () => {
  const balance = await world.node.rpc("eth_getBalance", [world.operator, "latest"]);
  await world.node.rpc("anvil_setBalance", [world.operator, "0x0"]);
  const id = await transfer("100");
  await until(id, { wait_reason: "signer_out_of_gas" });
  await world.node.rpc("anvil_setBalance", [world.operator, balance]);
  await until(id, { state: "CONFIRMED" });
}, 180_000);

test("a transfer waits while fees are above the cap, and settles when they fall", async () => {
  await world.node.pause();
  await world.node.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${(200n * 10n ** 9n).toString(16)}`]);
  await world.node.mine();
  const id = await transfer("100");
  await until(id, { wait_reason: "fee_above_cap" });
  await world.node.rpc("anvil_setNextBlockBaseFeePerGas", ["0x3b9aca00"]);
  world.node.run(BLOCK_MS);
  await until(id, { state: "CONFIRMED" });
}, 180_000);

test("a transaction that the nodes drop is sent again and settles", async () => {
  await world.node.pause();
  const id = await transfer("100");
  const { hash } = await inPool(id);
  await world.node.rpc("anvil_dropTransaction", [hash]);
  world.node.run(BLOCK_MS);
  await until(id, { state: "CONFIRMED" });
}, 180_000);

test("an outside use of the signer's key heals by itself (x402 3231, nonce too low)", async () => {
  await world.node.pause();
  const id = await transfer("100");
  const sent = await inPool(id);
  await world.node.rpc("anvil_dropTransaction", [sent.hash]);
  const outside = { from: world.operator, to: world.admin, value: "0x1", nonce: sent.nonce, gas: "0x5208" };
  await world.node.rpc("eth_sendTransaction", [
    { ...outside, maxFeePerGas: "0x1bf08eb000", maxPriorityFeePerGas: "0x1bf08eb000" },
  ]);
  world.node.run(BLOCK_MS);
  await until(id, { state: "CONFIRMED" });
}, 240_000);

test("a nonce counter ahead of the chain: the gap is filled (OpenZeppelin Relayer 818, 843)", async () => {
  await world.relayerDb.run(sql`update signers set next_nonce = next_nonce + 3`);
  const ids = [await transfer("100"), await transfer("101"), await transfer("102")];
  for (const id of ids) await until(id, { state: "CONFIRMED" });
}, 180_000);

test("lost submissions under growing load: the gap is filled (OpenZeppelin Relayer 818, 843)", async () => {
  proxy.setFaults(["timeout_before"]);
  proxy.setRate(0.9);
  const ids: string[] = [];
  for (let number = 0; number < 10; number += 1) {
    ids.push(await transfer(String(200 + number)));
    await sleep(300);
  }
  proxy.setRate(0);
  for (const id of ids) await until(id, { state: "CONFIRMED" });
}, 180_000);

test('"nonce too low" for an accepted transaction causes a look-up and no new one (OpenZeppelin Relayer 681)', async () => {
  proxy.setFaults(["nonce_too_low", "already_known", "underpriced"]);
  proxy.setRate(1);
  const before = proxy.faultsDone();
  const id = await transfer("100");
  await eventually(() => expect(proxy.faultsDone()).toBeGreaterThan(before), { timeoutMs: 60_000 });
  await sleep(1_500);
  proxy.setRate(0);
  expect(await until(id, { state: "CONFIRMED" })).toMatchObject({ attempts: 1 });
}, 180_000);

test("operations settle once when nodes lack the receipt of a final transaction (OpenZeppelin Relayer 817)", async () => {
  proxy.setFaults(["no_receipt"]);
  proxy.setRate(1);
  const ids = [await transfer("300"), await hold("301")];
  try {
    for (const id of ids) await until(id, { state: "CONFIRMED" });
  } finally {
    proxy.setRate(0);
  }
  const chain = await readChain(world);
  expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
}, 180_000);

test("fifty requests for one payment cause one execution (x402 2801)", async () => {
  const before = (await readChain(world)).executions.size;
  const request = {
    context: { requestId: "req", traceparent: "", orgId: book.orgId, deadline: undefined },
    requestId: newId("trf"),
    intent: {
      $case: "transfer" as const,
      value: {
        fromWalletId: payer.walletId,
        toWalletId: receiver.walletId,
        toAddress: receiver.address,
        amountWon: "777",
        dailyLimitWon: NO_LIMIT,
      },
    },
  };
  await Promise.all(Array.from({ length: 50 }, () => world.ledger.post({ ...request, metadata: {} })));
  await until(request.requestId, { state: "CONFIRMED" });
  const chain = await readChain(world);
  expect(chain.executions.size).toBe(before + 1);
  expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
}, 180_000);

test("an authorization that a stranger submits first settles the transfer", async () => {
  await world.node.pause();
  const id = await transfer("4321");
  const hash = await frontRun(id, 1);
  world.node.run(BLOCK_MS);
  const settled = await until(id, { state: "CONFIRMED" });
  expect(settled.tx_hash).not.toBe(hash);
}, 180_000);

test("the remaining legs follow when a stranger submits one leg of a payment first", async () => {
  const incentive = await book.openWallet("payer", WalletType.INCENTIVE);
  const accrual = await book.post("opn", {
    $case: "charge",
    value: { walletId: incentive.walletId, amountWon: "500" },
  });
  await until(accrual, { state: "CONFIRMED" });
  await world.node.pause();
  const payment = {
    payerWalletId: payer.walletId,
    receiverWalletId: receiver.walletId,
    amountWon: "2000",
  };
  const id = await book.post("pay", {
    $case: "payment",
    value: { ...payment, incentiveAmountWon: undefined, accrualRateBps: 0 },
  });
  await frontRun(id, 1);
  world.node.run(BLOCK_MS);
  await until(id, { state: "CONFIRMED", attempts: 2 });
}, 180_000);

test("a payout that never arrives is given up on proof, and its money is free again", async () => {
  await asAdmin(tokenAbi.encodeFunctionData("setBlocked", [OUTSIDE, true]));
  const id = await hold("5000", OUTSIDE);
  await until(id, { wait_reason: "AccountBlocked" });
  expect((await read(id)).state).not.toBe("FAILED");
  await until(id, { state: "FAILED" }, 90_000);
  const proof = await world.relayerDb.one<{
    proof_block_hash: string;
    proof_block_time: bigint;
    expires_at: Date;
  }>(sql`select proof_block_hash, proof_block_time, expires_at from operations where ledger_ref = ${id}`);
  const block = await world.node.rpc<{ timestamp: string }>("eth_getBlockByHash", [
    proof.proof_block_hash,
    false,
  ]);
  expect(BigInt(block.timestamp)).toBe(proof.proof_block_time);
  expect(Number(proof.proof_block_time)).toBeGreaterThan(proof.expires_at.getTime() / 1000);
  await book.post("trf", { $case: "voidHold", value: { holdRequestId: id } });
}, 240_000);

test("the chain's balances then equal the ledger's", async () => {
  await eventually(async () => expect(await book.differences()).toEqual([]), { timeoutMs: 60_000 });
});

test("after all of this every settlement is listed as its newest event says", async () => {
  const orgs = await world.relayerDb.query<{ org_id: string }>(sql`select org_id from settlement_queues`);
  const listed = await Promise.all(
    orgs.map(({ org_id }) => findSettlements(world.relayerDb, org_id, "", 10_000)),
  );
  const newest = await readNewestEvents();
  expect(newest.length).toBeGreaterThan(20);
  expect(listed.flat().sort(byRef)).toEqual(newest.sort(byRef));
});

function byRef(one: { ledgerRef: string }, other: { ledgerRef: string }): number {
  return one.ledgerRef < other.ledgerRef ? -1 : 1;
}

/** The settlements of a projection that has read every event. */
async function readNewestEvents(): Promise<StoredSettlement[]> {
  const events = await world.relayerDb.query<{ type: string; version: bigint; payload: Buffer }>(sql`
    select type, version, payload from outbox order by id`);
  const newest = new Map<string, StoredSettlement>();
  for (const event of events)
    for (const reported of contentOf(event))
      if (reported.version >= (newest.get(reported.ledgerRef)?.version ?? 0n))
        newest.set(reported.ledgerRef, reported);
  return [...newest.values()];
}

const NONE = { fromAddress: null, txHash: null, blockNumber: null, failure: null };

function contentOf({ type, version, payload }: { type: string; version: bigint; payload: Buffer }) {
  switch (type) {
    case "operations_submitted": {
      const { operations, txHash, changedAt } = OperationsSubmitted.decode(payload);
      return operations.map(({ ledgerRef, version }): StoredSettlement => ({
        ...{ ...NONE, ledgerRef, version, changedAt: changedAt!, status: "SUBMITTED", txHash },
      }));
    }
    case "operations_confirmed": {
      const { operations, changedAt } = OperationsConfirmed.decode(payload);
      return operations.map(({ ledgerRef, version, txHash, blockNumber }): StoredSettlement => ({
        ...{ ...NONE, ledgerRef, version, changedAt: changedAt!, status: "CONFIRMED", txHash, blockNumber },
      }));
    }
    case "operation_failed": {
      const { ledgerRef, changedAt, reason, ...proof } = OperationFailed.decode(payload);
      const failure = { reason, blockNumber: proof.proofBlockNumber, blockHash: proof.proofBlockHash };
      const failed: StoredSettlement = {
        ...{ ...NONE, ledgerRef, version, changedAt: changedAt!, status: "FAILED", failure },
      };
      return [failed];
    }
    default:
      return [];
  }
}

function transfer(amountWon: string): Promise<string> {
  const value = {
    fromWalletId: payer.walletId,
    toWalletId: receiver.walletId,
    amountWon,
    dailyLimitWon: NO_LIMIT,
  };
  return book.post("trf", { $case: "transfer", value });
}

function hold(amountWon: string, toAddress: string = SOMEBODY): Promise<string> {
  const value = { walletId: payer.walletId, amountWon, dailyLimitWon: NO_LIMIT, toAddress };
  return book.post("hld", { $case: "placeHold", value });
}

async function read(ledgerRef: string): Promise<OperationState> {
  const found = (await readOperations(world)).find((one) => one.ledger_ref === ledgerRef);
  if (!found) throw new Error(`${ledgerRef} has not come in`);
  return found;
}

function until(
  ledgerRef: string,
  what: Partial<OperationState>,
  timeoutMs = 60_000,
): Promise<OperationState> {
  return eventually(
    async () => {
      const found = await read(ledgerRef);
      expect(found).toMatchObject(what);
      return found;
    },
    { timeoutMs },
  );
}

async function asAdmin(data: string): Promise<void> {
  const call = { from: world.admin, to: world.contracts.tokenAddress, data, gas: "0x30d40" };
  const hash = await world.node.rpc<string>("eth_sendTransaction", [call]);
  await eventually(
    async () => {
      expect(await world.node.rpc("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    },
    { timeoutMs: 60_000 },
  );
}

interface SentStep {
  from: string;
  to: string;
  value: bigint;
  validBefore: bigint;
  nonce: string;
  r: string;
  vs: string;
}

interface PooledTransaction {
  hash: string;
  nonce: string;
  input: string;
}

/** Returns the pooled transaction that carries the operation. A replacement has another hash. */
function inPool(ledgerRef: string): Promise<PooledTransaction> {
  return eventually(
    async () => {
      const versions = await world.relayerDb.query<{ tx_hash: string }>(sql`
        select v.tx_hash from operations o join transaction_versions v using (transaction_id) where o.ledger_ref = ${ledgerRef}`);
      const found = await Promise.all(
        versions.map(({ tx_hash }) =>
          world.node.rpc<PooledTransaction | null>("eth_getTransactionByHash", [tx_hash]),
        ),
      );
      return found.find((one) => one !== null) ?? Promise.reject(new Error("not in the pool yet"));
    },
    { timeoutMs: 60_000 },
  );
}

/**
 * Submits authorizations of a pooled operation first, as any stranger could. Returns that
 * transaction's hash.
 */
async function frontRun(ledgerRef: string, legs: number): Promise<string> {
  const { hash: theirs, input } = await inPool(ledgerRef);
  const [, steps] = managerAbi.decodeFunctionData("execute", input) as unknown as [unknown, SentStep[]];
  const [somebody] = await world.node.rpc<string[]>("eth_accounts");
  for (const step of steps.filter(({ nonce }) => BigInt(nonce) !== 0n).slice(0, legs)) {
    const v = BigInt(step.vs) >> 255n === 1n ? 28 : 27;
    const s = `0x${(BigInt(step.vs) & ((1n << 255n) - 1n)).toString(16).padStart(64, "0")}`;
    const data = tokenAbi.encodeFunctionData(
      "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
      [step.from, step.to, step.value, 0, step.validBefore, step.nonce, v, step.r, s],
    );
    const call = { from: somebody, to: world.contracts.tokenAddress, data, gas: "0x30d40" };
    const fees = { maxFeePerGas: "0x1bf08eb000", maxPriorityFeePerGas: "0x1bf08eb000" };
    const hash = await world.node.rpc<string>("eth_sendTransaction", [{ ...call, ...fees }]);
    await world.node.mine();
    const receipt = await world.node.rpc("eth_getTransactionReceipt", [hash]);
    expect(receipt).toMatchObject({ status: "0x1" });
  }
  return theirs;
}
