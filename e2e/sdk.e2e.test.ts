import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@wonrail/kit/grpc/client";
import { createLog } from "@wonrail/kit/log";
import { type HttpProxy, startHttpProxy, testRegistry } from "@wonrail/kit/testing";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import {
  ConflictError,
  errorMeanings,
  formatUnits,
  isErrorCode,
  RefusedError,
  ServiceClient,
  type TransactionListQuery,
  toUnits,
  VERSION,
} from "@wonrail/sdk";
import { computeAddress } from "ethers";
import { playClients } from "./clients/playClients";
import { checkAnswer } from "./support/contract";
import { useSharedStack } from "./support/sharedStack";

// The client libraries and the command line example against the real service, as a partner uses them.

jest.setTimeout(480_000);

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const EXAMPLE = join(__dirname, "../sdk/examples/cli");
/** Its services talk by mutual TLS, which clients must not notice. */
const stack = useSharedStack();
let client: ServiceClient;

beforeAll(async () => {
  client = clientAt(stack.stack().gatewayUrl);
});

/** Any output, which a failure then shows. */
const ANY_OUTPUT = { stdout: expect.any(String) as string, stderr: expect.any(String) as string };

function clientAt(baseUrl: string, maxRetries = 5): ServiceClient {
  const { organisations, chain } = stack.stack();
  const { apiKey, orgCode } = organisations[0]!;
  const { rpcUrl } = chain;
  return new ServiceClient({
    baseUrl,
    apiKey,
    orgCode,
    maxRetries,
    network: { rpcUrl },
    fetch: checkedFetch,
  });
}

/** Checks every answer to the library against the OpenAPI document. */
const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  checkAnswer(init?.method ?? "GET", pathname, response.status, await response.clone().json());
  return response;
};

async function fundedWallet(amount: number) {
  const wallet = await client.wallets.create({ userId: randomUUID(), walletType: "NORMAL" });
  const charge = await client.charges.create({ walletId: wallet.walletId, amount });
  return { ...wallet, charge };
}

function instant(txHash = `0x${randomBytes(32).toString("hex")}`) {
  const fields = { fromAddress: OUTSIDE, toAddress: OUTSIDE, amount: toUnits("1.0") };
  return { ...fields, paymentType: "INSTANT" as const, txHash };
}

test("the session belongs to the organisation, and the gateway is healthy", async () => {
  const { organisation } = await client.auth.getSession();
  expect(organisation.orgCode).toBe(client.orgCode);
  expect(await client.checkHealth()).toEqual({ status: "ok" });
  expect(VERSION).toMatch(/^1\./);
});

test("the library knows the contracts' addresses of every new test network", () => {
  const { chainId, tokenAddress, paymentManagerAddress } = stack.stack().chain;
  const { token, ...network } = client.network;
  expect({ ...network, tokenAddress: token.address }).toMatchObject({
    chainId,
    tokenAddress,
    paymentManagerAddress,
  });
});

test("a wallet is charged, pays, cancels, transfers and refunds, and lists its lines", async () => {
  const payer = await fundedWallet(50_000);
  const shop = await client.wallets.create({ userId: randomUUID(), walletType: "NORMAL" });
  const payerWalletId = payer.walletId;
  const ids = { payerWalletId, receiverWalletId: shop.walletId };
  const paid = await client.payments.create({ ...ids, amount: 12_000 });
  expect(paid).toMatchObject({ status: "PAID", breakdown: { government: 0, incentive: 0, normal: 12_000 } });
  const cancelled = await client.payments.cancel({ paymentId: paid.paymentId, memo: "Sent back" });
  expect(cancelled).toMatchObject({ status: "CANCELLED", paymentId: paid.paymentId });
  expect(cancelled.cancellation.settlement.status).toBe("PENDING");
  const { cancelId, restored, incentiveClawedBack, keptFromNormal } = cancelled;
  expect([restored, incentiveClawedBack + keptFromNormal]).toEqual([
    { incentive: 0, normal: 12_000 - keptFromNormal },
    paid.incentiveAccrued,
  ]);
  const expected = { cancelId, restored, incentiveClawedBack, keptFromNormal, memo: "Sent back" };
  const { cancellation } = await client.payments.get(paid.paymentId);
  expect(cancellation).toMatchObject({ ...expected, createdAt: cancelled.cancellation.createdAt });
  const { paymentId } = await client.payments.create({ ...ids, amount: 2_000, incentiveAmount: 0 });
  const part = await client.payments.refund({ paymentId, amount: 2_000, memo: "One item" });
  const { refunds } = await client.payments.get(paymentId);
  expect([part.status, refunds]).toMatchObject(["REFUNDED", [{ refundId: part.refundId, amount: 2_000 }]]);
  const transfer = await client.transfers.create({
    fromWalletId: payerWalletId,
    toWalletAddress: shop.walletAddress,
    amount: 1_000,
  });
  expect(await client.transfers.get(transfer.transferId)).toMatchObject({
    toWalletId: shop.walletId,
    amount: 1_000,
  });
  const half = await client.charges.cancel({ chargeId: payer.charge.chargeId, amount: 25_000 });
  expect(half).toMatchObject({ status: "PARTIALLY_CANCELLED", cancelledAmount: 25_000 });
  expect((await client.charges.get(payer.charge.chargeId)).cancellations).toMatchObject([
    { cancelId: half.cancelId, amount: 25_000 },
  ]);
  await expect(
    client.transfers.create({ fromWalletId: payerWalletId, toWalletAddress: OUTSIDE, amount: 999_999 }),
  ).rejects.toThrow(RefusedError);
  const { refundId, amount } = await client.charges.refund({ walletId: payerWalletId });
  expect(amount).toBe(24_000);
  expect(await client.charges.getRefund(refundId)).toMatchObject({ refundId, amount });

  const types: string[] = [];
  for await (const { type } of client.wallets.listTransactions(payerWalletId, { limit: 2 })) types.push(type);
  expect(types).toEqual(
    expect.arrayContaining(["CHARGE", "PAYMENT", "PAYMENT_CANCEL", "TRANSFER", "CHARGE_CANCEL", "REFUND"]),
  );
});

test("a record is created once, read, listed, and settled by its owner", async () => {
  const request = instant();
  const record = await client.transactions.create({ ...request, fromNetworkType: "BASE_SEPOLIA" });
  expect(record).toMatchObject({ status: "PENDING", toNetworkType: "BASE_SEPOLIA", amount: "1000000" });
  expect(formatUnits(record.amount)).toBe("1");
  const again = client.transactions.create({ ...request, fromNetworkType: "BASE_SEPOLIA" });
  await expect(again).rejects.toBeInstanceOf(ConflictError);
  await expect(again).rejects.toMatchObject({ code: "TX_002", details: { id: record.id } });

  const settled = await client.transactions.updateStatus(record.id, { status: "CONFIRMED" });
  const { history, ...waited } = await client.transactions.waitForStatus(
    record.id,
    ({ status }) => status === "CONFIRMED",
  );
  expect(waited).toEqual(settled);
  expect(history).toEqual([
    { status: "PENDING", scheduledAt: null, reason: null, changedBy: "API", changedAt: record.createdAt },
    { status: "CONFIRMED", scheduledAt: null, reason: null, changedBy: "API", changedAt: settled.updatedAt },
  ]);
  const page = await client.transactions.list({ limit: 1, status: "CONFIRMED" });
  expect(page.items[0]).toEqual(settled);
  const refused = client.transactions.updateStatus(record.id, { status: "FAILED" });
  await expect(refused).rejects.toMatchObject({ code: "TX_003" });
});

test("records are found by every filter, by page number and up to the last one", async () => {
  const address = `0x${randomBytes(20).toString("hex")}`;
  const from = new Date();
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const request = { ...instant(), fromAddress: address, fromNetworkType: "BASE_SEPOLIA" as const };
    ids.unshift((await client.transactions.create(request)).id);
  }
  await client.transactions.updateStatus(ids[0]!, { status: "FAILED", failureReason: "never sent" });
  const found = async (filter: Pick<TransactionListQuery, "status" | "paymentType" | "from" | "to">) => {
    const seen: string[] = [];
    for await (const { id } of client.transactions.list({ ...filter, address, limit: 2 })) seen.push(id);
    return seen;
  };
  expect(await found({})).toEqual(ids);
  expect(await found({ status: "FAILED" })).toEqual(ids.slice(0, 1));
  expect(await found({ status: "PENDING", paymentType: "INSTANT" })).toEqual(ids.slice(1));
  expect(await found({ paymentType: "SCHEDULED" })).toEqual([]);
  expect(await found({ from })).toEqual(ids);
  expect(await found({ to: from })).toEqual([]);
  const second = await client.transactions.list({ address, limit: 2, currentPage: 2 });
  expect(second.items.map(({ id }) => id)).toEqual(ids.slice(2));
  expect(second.pagination).toMatchObject({ currentPage: 2, hasNext: false, totalCount: 3 });
});

test("a scheduled record of a wallet is executed when due, and not at its earlier time", async () => {
  const { walletAddress } = await fundedWallet(10_000);
  const earlierMs = Date.now() + 120_000;
  const scheduled = await client.transactions.create({
    paymentType: "SCHEDULED",
    scheduledAt: new Date(earlierMs),
    fromAddress: walletAddress,
    toAddress: OUTSIDE,
    amount: toUnits("2500"),
  });
  // Far enough ahead for a slow machine.
  const dueAt = new Date(Date.now() + 8_000);
  await client.transactions.updateSchedule(scheduled.id, { scheduledAt: dueAt });
  const ended = ({ status }: { status: string }) => status !== "PENDING";
  const done = await client.transactions.waitForStatus(scheduled.id, ended, { timeoutMs: 120_000 });
  expect(done).toMatchObject({
    status: "CONFIRMED",
    txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string,
  });
  expect(done.history.map(({ changedBy }) => changedBy)).toEqual(["API", "API", "SCHEDULER", "CHAIN"]);
  const [, , sent] = done.history;
  const transfer = await client.transfers.get(sent!.reason!.replace("sent_as_", ""));
  const executedMs = Date.parse(transfer.createdAt);
  expect(executedMs).toBeGreaterThanOrEqual(dueAt.getTime());
  expect(executedMs).toBeLessThan(earlierMs);
});

test("money calls with lost answers have one effect", async () => {
  const wallet = await client.wallets.create({ userId: randomUUID(), walletType: "NORMAL" });
  const lossy = await startLosingProxy(stack.stack().gatewayUrl);
  try {
    // Ten retries suffice when every one of ten answers is lost.
    const retrying = clientAt(lossy.url, 10);
    const charges = Array.from({ length: 10 }, () =>
      retrying.charges.create({ walletId: wallet.walletId, amount: 1_000 }).withResponse(),
    );
    const answers = await Promise.all(charges);
    expect(new Set(answers.map(({ data }) => data.chargeId)).size).toBe(10);
    expect(lossy.lost()).toBeGreaterThan(0);
    expect(answers.some(({ replayed }) => replayed)).toBe(true);
  } finally {
    await lossy.close();
  }
  expect(await client.wallets.get(wallet.walletId)).toMatchObject({ balance: 10_000 });
});

test("the library knows every code that the running service documents", async () => {
  const response = await fetch(`${stack.stack().gatewayUrl}/api/openapi.json`);
  const { components } = (await response.json()) as {
    components: { schemas: { ErrorCode: { enum: string[] } } };
  };
  const codes = components.schemas.ErrorCode.enum;
  expect(codes.filter((code) => !isErrorCode(code))).toEqual([]);
  expect(
    Object.keys(errorMeanings)
      .filter((code) => !code.startsWith("SDK_"))
      .sort(),
  ).toEqual([...codes].sort());
});

test("services refuse callers without a certificate, and only the relayer may sign", async () => {
  const file = (name: string) => readFileSync(join(stack.home().secretsDir, "tls", name));
  const signingAs = async (caller?: string) => {
    const wallet = createClient(WalletServiceService, {
      name: "wallet",
      address: stack.stack().services.wallet!.grpc!,
      log: createLog({ service: "test", level: "silent" }),
      registry: testRegistry(),
      defaultTimeoutMs: 20_000,
      tls:
        caller === undefined
          ? undefined
          : { cert: file(`${caller}.crt`), key: file(`${caller}.key`), ca: file(`${caller}.ca.crt`) },
    });
    try {
      return (await wallet.signAuthorizations({ intents: [] })).signatures.length;
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      wallet.close();
    }
  };
  expect(await signingAs()).toBe("SYS_002");
  expect(await signingAs("gateway")).toBe("SYS_001");
  expect(await signingAs("payment")).toBe("SYS_001");
  expect(await signingAs("chain-relayer")).toBe(0);
});

describe("clients of other languages", () => playClients(() => ({ stack: stack.stack(), client })));

describe("the command line example", () => {
  const key = `0x${randomBytes(32).toString("hex")}`;

  const cli = (...args: string[]) => cliWith({ WONRAIL_HOME: stack.home().dir }, ...args);

  function cliWith(
    settings: Record<string, string>,
    ...args: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...process.env, SENDER_PRIVATE_KEY: key, ...settings };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(EXAMPLE, "index.js"), ...args],
        { env, timeout: 120_000 },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
        },
      );
    });
  }

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await cli(...args, "--json");
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  test("every command of the README works in order, and the chain confirms the records", async () => {
    const blocks = [
      ...readFileSync(join(EXAMPLE, "README.md"), "utf8").matchAll(/```bash\n(node sdk.*?)```/gs),
    ];
    const lines = blocks.flatMap(([, block]) => block!.trim().split("\n"));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      // The environment replaces the .env file that keygen would write.
      const args = line
        .replace(/ >> .*/, "")
        .split(" ")
        .slice(2);
      expect({ line, ...(await cli(...args)) }).toEqual({ line, code: 0, ...ANY_OUTPUT });
    }
    const confirmed = await json<{ paymentType: string; toNetworkType: string }[]>(
      "list",
      "--status",
      "CONFIRMED",
      "--limit",
      "4",
    );
    expect(confirmed.map(({ paymentType, toNetworkType }) => `${paymentType} ${toNetworkType}`)).toEqual([
      "INSTANT BASE_SEPOLIA",
      "SCHEDULED WON_TESTNET",
      "INSTANT WON_TESTNET",
      "INSTANT WON_TESTNET",
    ]);
  });

  test.each([[[]], [["--json"]]])(
    "send %p whose record fails tells the hash of what is on its way, and is no exit code to begin again at",
    async (flags) => {
      const { apiKey, orgCode } = stack.stack().organisations[0]!;
      const nobody = {
        WONRAIL_BASE_URL: "http://127.0.0.1:1",
        WONRAIL_API_KEY: apiKey,
        WONRAIL_ORG_CODE: orgCode,
      };
      const chain = { RPC_URL: stack.stack().chain.rpcUrl };
      const args = ["send", "--to", OUTSIDE, "--amount", "1", ...flags];
      const sent = await cliWith({ ...nobody, ...chain }, ...args);
      expect(sent).toMatchObject({ code: 5, stdout: "" });
      const hash = /0x[0-9a-f]{64}/.exec(sent.stderr)![0];
      expect(sent.stderr).toContain(flags.length === 0 ? `create --hash ${hash}` : `{"txHash":"${hash}"}`);
      const amount = ["--from", computeAddress(key), "--to", OUTSIDE, "--amount", "1"];
      expect(await cli("create", "--hash", hash, ...amount)).toEqual({ code: 0, ...ANY_OUTPUT });
    },
  );

  test("exit codes match the outcome", async () => {
    expect((await cli("get", "txn_none")).code).toBe(1);
    expect((await cli("get")).code).toBe(2);
    const hash = instant().txHash;
    const other = ["--network", "BASE_SEPOLIA", "--from", OUTSIDE, "--to", OUTSIDE, "--amount", "1"];
    const { id } = await json<{ id: string }>("create", "--hash", hash, ...other);
    expect((await cli("wait", id, "--seconds", "1")).code).toBe(4);
    const twice = await cli("create", "--hash", hash, ...other);
    expect(twice).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(id) as string });
    expect(await json("status", id, "--to", "FAILED", "--reason", "never sent")).toMatchObject({
      status: "FAILED",
    });
  });
});

/** A proxy that loses every second answer after the service's execution. */
async function startLosingProxy(target: string): Promise<HttpProxy & { lost(): number }> {
  let answered = 0;
  let lost = 0;
  const proxy = await startHttpProxy(target, async ({ forward }) => {
    const answer = await forward();
    answered += 1;
    if (answered % 2 === 0) return answer;
    lost += 1;
    return "drop";
  });
  return { ...proxy, lost: () => lost };
}
