import { spawn } from "node:child_process";
import { get } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PROCESSES, ROOT } from "./ops/repository";
import { openApi } from "./support/api";
import { admin, type NewOrganisation, newOrganisation } from "./support/operators";
import {
  GRACE_MS,
  type LogLine,
  type Replica,
  type Replicas,
  startBalancer,
  startReplicas,
} from "./support/replicas";
import { startStack, type TestStack } from "./support/startStack";

// Two replicas of each of the seven processes, a balancer before the gateways, and paying customers.
// A replica of each process is replaced without a failed request; WONRAIL_DEEP=true replaces both.

jest.setTimeout(900_000);

const IS_DEEP = process.env.WONRAIL_DEEP === "true";
const ROUNDS = IS_DEEP ? 4 : 1;
const TAKES_TRAFFIC_MS = 60_000;

let stack: TestStack;
let replicas: Replicas;
let organisation: NewOrganisation;
let load: Awaited<ReturnType<typeof startLoad>>;
let balancer: Awaited<ReturnType<typeof startBalancer>>;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  organisation = await newOrganisation(stack.stack(), "--daily-limit", "1000000000");
  replicas = await startReplicas(stack);
  const { port } = new URL(stack.stack().gatewayUrl);
  const gateways = replicas.all.filter(({ name }) => name === "gateway");
  balancer = await startBalancer(
    gateways.map(({ machine, ops }) => ({ host: machine, port: Number(port), ops })),
  );
});
afterAll(async () => {
  load?.kill();
  balancer?.close();
  await replicas?.stop();
  await stack?.stop();
});

test("a payment is found by its request id in the logs of all processes, as one trace", async () => {
  const api = openApi(balancer.url, organisation.apiKey);
  const [payer, shop] = [
    await api.post("/api/wallets", { userId: "payer", walletType: "NORMAL" }),
    await api.post("/api/wallets", { userId: "shop", walletType: "NORMAL" }),
  ];
  await api.post("/api/wallets/charge", { walletId: payer.walletId, amount: 5_000 });
  const { apiKey } = await admin(stack.stack(), "key", "issue", "--org", organisation.orgCode); // not cached by a gateway
  const requestId = `trace-${Date.now()}`;
  const order = {
    payerWalletId: payer.walletId,
    receiverWalletId: shop.walletId,
    amount: 1_000,
    memo: "line one\nline two \u2028 {",
  };
  const { status, body } = await api.call("POST", "/api/wallets/payment", order, {
    key: apiKey!,
    idempotencyKey: requestId,
    headers: { "X-Request-ID": requestId },
  });
  expect({ status, requestId: body.requestId }).toEqual({ status: 201, requestId });

  const requestLines = () => replicas.lines().filter((line) => line.requestId === requestId);
  const all = PROCESSES.map(({ name }) => name).sort();
  for (
    const endMs = Date.now() + 30_000;
    Date.now() < endMs && servicesOf(requestLines()).length < all.length;
  )
    await sleep(200);
  expect(servicesOf(requestLines())).toEqual(all);
  expect(new Set(requestLines().map(({ traceId }) => traceId)).size).toBe(1);
  expect(JSON.stringify(replicas.lines())).not.toContain(apiKey);
});

test(`replicas are replaced ${ROUNDS} times: each drains in time, and its successor takes traffic`, async () => {
  load = await startLoad(balancer.url, organisation.apiKey);
  const [{ machine: first }] = replicas.all as [Replica];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const replica of replicas.all.filter(({ machine }) => IS_DEEP || machine === first)) {
      const { drainMs, code, successor } = await replicas.replace(replica);
      expect({ name: replica.name, code, inTime: drainMs <= GRACE_MS }).toEqual({
        name: replica.name,
        code: 0,
        inTime: true,
      });
      await untilServing(successor);
    }
  }
});

test("no request fails after its one retry, and balances equal the answers", async () => {
  const { code, result } = await load.stop();
  expect(result).toMatchObject({ failed: [] });
  expect(result.answers).toBeGreaterThan(100 * ROUNDS);
  expect(code).toBe(0);
});

function servicesOf(lines: LogLine[]): string[] {
  return [...new Set(lines.map(({ service }) => service))].sort();
}

/** The customers of deploy/kube, who pay and count. */
async function startLoad(url: string, apiKey: string) {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-load-"));
  const keyFile = join(folder, "key");
  writeFileSync(keyFile, apiKey);
  // With a pause, so that starting processes get processor time.
  const customers = { SECONDS: "900", WORKERS: "4", PAUSE_MS: "100" };
  const env = { ...process.env, GATEWAY: url, API_KEY_FILE: keyFile, ...customers };
  const child = spawn(process.execPath, [join(ROOT, "deploy/kube/inside.mjs"), "load"], { env });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  while (!output.includes("running") && child.exitCode === null) await sleep(20);
  return {
    kill: () => child.kill("SIGKILL"),
    async stop() {
      child.kill("SIGTERM");
      const code = await exited;
      rmSync(folder, { recursive: true });
      const result = JSON.parse(output.trim().split("\n").at(-1)!) as { answers: number; failed: string[] };
      return { code, result };
    },
  };
}

/** Paying customers call neither the relayer nor events, and connections stay at their replica. */
async function untilServing({ name, ops }: Replica): Promise<void> {
  if (name === "chain-relayer" || name === "events") return;
  const metric =
    name === "gateway" ? /^http_requests_total\{.*\} [1-9]/m : /^grpc_server_handled_total\{.*\} [1-9]/m;
  for (const endMs = Date.now() + TAKES_TRAFFIC_MS; Date.now() < endMs; await sleep(100)) {
    if (name === "gateway") await newConnection();
    const text = await (await fetch(`http://${ops}/metrics`)).text();
    if (metric.test(text)) return;
  }
  throw new Error(`the new ${name} at ${ops} serves nobody after ${TAKES_TRAFFIC_MS} ms`);
}

/** A connection to an ending gateway does not count. */
function newConnection(): Promise<void> {
  return new Promise((resolve) => {
    get(`${balancer.url}/api/wallet-auth/session`, { agent: false }, (response) => {
      response.resume().once("close", resolve);
    }).once("error", () => resolve());
  });
}
