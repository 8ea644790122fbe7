// Failures of the network, made with real connections.
import { createServer, type Server } from "node:net";
import { ConnectionError, ServiceClient, type ServiceError } from "../src/index.ts";

const transfer = { fromWalletId: "wal_1", toWalletAddress: `0x${"ab".repeat(20)}`, amount: 1_000 };

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}

/** A port on which nothing listens any more. */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function errorOf(baseUrl: string, maxRetries = 0, send = sendTransfer): Promise<ServiceError> {
  const client = new ServiceClient({ baseUrl, apiKey: "wk_test_1", maxRetries });
  try {
    await send(client);
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error("the call succeeded");
}

function sendTransfer(client: ServiceClient): PromiseLike<unknown> {
  return client.transfers.create(transfer, { idempotencyKey: "order-7" });
}

test.each(["127.0.0.1", "localhost"])(
  "a refused connection to %s leaves no unknown outcome",
  async (host) => {
    const port = await closedPort();
    const error = await errorOf(`http://${host}:${port}/base`);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: "SDK_001", outcomeUnknown: false, idempotencyKey: "order-7" });
    expect(error.message).toMatch(
      new RegExp(
        `^POST http://${host}:${port}/base/api/wallets/transfer was not sent: connect ECONNREFUSED .+:${port}\\.`,
      ),
    );
  },
);

test("an unknown host leaves no unknown outcome and is named", async () => {
  const error = await errorOf("https://service.invalid");
  expect(error).toMatchObject({ code: "SDK_001", outcomeUnknown: false });
  expect(error.message).toMatch(
    /^POST https:\/\/service\.invalid\/api\/wallets\/transfer was not sent: getaddrinfo [A-Z_]+ service\.invalid\./,
  );
});

test("a connection that breaks after sending leaves the outcome unknown", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.destroy()));
  const port = await listen(server);
  const error = await errorOf(`http://127.0.0.1:${port}`);
  server.close();
  expect(error).toMatchObject({ code: "SDK_001", outcomeUnknown: true });
  expect(error.message).toMatch(
    /\/api\/wallets\/transfer got no answer: .+\. The call may have been executed/,
  );
});

test("a broken connection and then a refused one leave the outcome unknown", async () => {
  const server = createServer((socket) =>
    socket.once("data", () => {
      socket.destroy();
      server.close();
    }),
  );
  const port = await listen(server);
  const error = await errorOf(`http://127.0.0.1:${port}`, 1);
  expect(error).toMatchObject({ code: "SYS_003", outcomeUnknown: true, cause: { code: "SDK_001" } });
});

test("a call without idempotency key is retried when the connection is refused", async () => {
  const port = await closedPort();
  let requests = 0;
  const counting: typeof fetch = (...args) => {
    requests += 1;
    return fetch(...args);
  };
  const client = new ServiceClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: "wk_test_1",
    maxRetries: 1,
    fetch: counting,
  });
  const call = client.wallets.create({ userId: "u", walletType: "NORMAL" });
  await expect(call).rejects.toMatchObject({ code: "SDK_001", outcomeUnknown: false });
  expect(requests).toBe(2);
});

test("the message of a failed read names no query, which may hold personal data", async () => {
  const port = await closedPort();
  const list = (client: ServiceClient) => client.wallets.list({ userId: "Hong Gildong" });
  const error = await errorOf(`http://127.0.0.1:${port}`, 0, list);
  expect(error.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/api\/wallets was not sent/);
  expect(error.message).not.toMatch(/Hong/);
});
