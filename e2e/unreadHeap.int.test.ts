// Clients that do not read their answers, against a gateway process with a small heap.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type FakeAuthServer, startFakeAuthServer } from "@wonrail/gateway/testing/fakeAuthServer";
import { newId } from "@wonrail/kit/contract/ids";
import { type GrpcServer, implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { inheritedEnv, REPOSITORY } from "@wonrail/local/config";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Wallet, WalletServiceService, WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";

const HEAP_MB = 200;
const CONNECTIONS = 300;
const REQUESTS = 20;

let auth: FakeAuthServer;
let walletService: GrpcServer;
let gateway: ChildProcess;
let port: number;
let sockets: Socket[] = [];

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const wallets = Array.from({ length: 100 }, largeWallet);
  const service = implement(WalletServiceService, {
    listWallets: async () => ({ wallets, page: { hasNext: false, totalCount: wallets.length } }),
  });
  const parts = { log: testLog(), registry: testRegistry() };
  walletService = await startGrpcServer({ host: "127.0.0.1", port: 0, services: [service], ...parts });
  port = await randomFreePort();
  gateway = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, "dist/main.js"], {
    cwd: join(REPOSITORY, "gateway"),
    env: {
      ...inheritedEnv(),
      ...{ HTTP_HOST: "127.0.0.1", HTTP_PORT: `${port}`, OPS_HOST: "127.0.0.1" },
      OPS_PORT: `${await randomFreePort()}`,
      LOG_LEVEL: "fatal",
      AUTH_ADDRESS: `127.0.0.1:${auth.port}`,
      WALLET_ADDRESS: `127.0.0.1:${walletService.port}`,
      ...{ PAYMENT_ADDRESS: "127.0.0.1:1", RELAYER_ADDRESS: "127.0.0.1:1", EVENTS_ADDRESS: "127.0.0.1:1" },
    },
    stdio: "ignore",
  });
  await eventually(async () => expect((await get("/healthz")).status).toBe(200), { timeoutMs: 30_000 });
}, 60_000);

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

afterAll(async () => {
  if (gateway.exitCode === null && gateway.signalCode === null) {
    gateway.kill("SIGKILL");
    await once(gateway, "exit");
  }
  await walletService.drain(100);
  await auth.close();
});

test.each([
  ["the document, without a key", "/api/openapi.json", () => ({})],
  ["a large list", "/api/wallets?limit=100", () => ({ "X-API-Key": auth.addKey().text })],
])(
  `a heap of ${HEAP_MB} MB survives clients that ask for %s and do not read`,
  async (_what, path, headersOf) => {
    const [attacker, good] = [headersOf(), headersOf()];
    const { length } = Buffer.from(await (await get(path, good)).arrayBuffer());
    // More than the heap can hold.
    expect((length * CONNECTIONS * REQUESTS) / 2 ** 20).toBeGreaterThan(3 * HEAP_MB);
    const lines = [`GET ${path} HTTP/1.1`, "Host: x", ...Object.entries(attacker).map((of) => of.join(": "))];
    for (let index = 0; index < CONNECTIONS; index += 1) {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      socket.write(`${lines.join("\r\n")}\r\n\r\n`.repeat(REQUESTS));
      sockets.push(socket);
    }
    const endMs = Date.now() + 5_000;
    while (Date.now() < endMs) expect((await get("/healthz")).status).toBe(200);
    expect([gateway.exitCode, gateway.signalCode]).toEqual([null, null]);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect((await get("/api/wallets", keyed())).status).toBe(200));
  },
  60_000,
);

function keyed(): Record<string, string> {
  return { "X-API-Key": auth.addKey().text };
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: AbortSignal.timeout(20_000) });
}

/** As much metadata as a wallet may have. */
function largeWallet(): Wallet {
  const pairs = Array.from({ length: 5 }, (_, index) => [`key ${index}`, "x".repeat(500)]);
  return {
    ...{ walletId: newId("wal"), userId: "kim", walletType: WalletType.NORMAL, status: WalletStatus.ACTIVE },
    ...{ walletAddress: `0x${"a".repeat(40)}`, balanceWon: "0", availableBalanceWon: "0" },
    ...{ metadata: Object.fromEntries(pairs) as Record<string, string> },
    ...{ createdAt: new Date(), updatedAt: new Date() },
  };
}
