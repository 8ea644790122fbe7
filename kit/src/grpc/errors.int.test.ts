import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { ErrorDetail } from "@wonrail/proto/common/v1/common";
import { DomainError, type ErrorCode, errorTable } from "../contract/errors";
import { closeAll, echoClient, EchoService, recordedLog, startEcho } from "./echoService.testing";

afterEach(closeAll);

const codes = Object.keys(errorTable) as ErrorCode[];

test("every code of the table travels with its details and the table's status", async () => {
  const { port } = await startEcho({
    say: async ({ text }) => {
      throw new DomainError(text as ErrorCode, {
        fields: [{ path: "금액", message: "NUL \u0000 and \ud800" }],
        limit: 3,
      });
    },
  });
  const client = echoClient(port);
  for (const code of codes) {
    const error = await client.say({ text: code }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({
      code,
      message: errorTable[code].message,
      retryable: errorTable[code].retryable,
      details: { fields: [{ path: "금액", message: "NUL \u0000 and \ud800" }], limit: 3 },
    });
    expect((await rawCall(port, code)).code).toBe(status[errorTable[code].grpc]);
  }
});

test("details that exceed a trailer are dropped, and the code still travels", async () => {
  const { port } = await startEcho({
    say: async () => {
      throw new DomainError("REQ_001", { text: "x".repeat(100_000) });
    },
  });
  await expect(echoClient(port).say({ text: "" })).rejects.toMatchObject({ code: "REQ_001", details: null });
});

test("an unknown error is SYS_001 without internal details, and is logged once with its stack", async () => {
  const { log, lines } = recordedLog();
  const { port } = await startEcho(
    {
      say: async () => {
        throw new Error("select secret from vault at /srv/app");
      },
    },
    { log },
  );
  const error = await rawCall(port, "hello");
  expect(error.code).toBe(status.INTERNAL);
  expect(error.details).toBe(errorTable.SYS_001.message);
  expect(JSON.stringify(error.metadata.getMap())).not.toContain("vault");
  const failures = lines().filter(({ level }) => level === "error");
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatchObject({ rpc: "/wonrail.test.v1.EchoService/Say" });
  expect((failures[0]!.err as { stack: string }).stack).toContain("select secret from vault");
});

test("a refusal is not logged as an error", async () => {
  const { log, lines } = recordedLog();
  const { port } = await startEcho(
    {
      say: async () => {
        throw new DomainError("WAL_002");
      },
    },
    { log },
  );
  await expect(echoClient(port).say({ text: "" })).rejects.toMatchObject({ code: "WAL_002" });
  expect(lines().filter(({ level }) => level === "error")).toEqual([]);
});

test("the caller of an unreachable service logs the RPC and the cause", async () => {
  const { log, lines } = recordedLog();
  const nobody = echoClient(1);
  const { port } = await startEcho({ say: (note) => nobody.say(note) }, { log });
  await expect(echoClient(port).say({ text: "" })).rejects.toMatchObject({ code: "SYS_002" });
  expect(lines().filter(({ msg }) => msg === "call failed")).toMatchObject([
    {
      level: "warn",
      rpc: "/wonrail.test.v1.EchoService/Say",
      code: "SYS_002",
      cause: expect.stringMatching(/^\/wonrail\.test\.v1\.EchoService\/Say: 14 UNAVAILABLE: .*ECONNREFUSED/),
    },
  ]);
});

test("a code of a newer server becomes SYS_001 with that code in the cause", async () => {
  const newer = new Server();
  newer.addService(EchoService, {
    say: (_call: unknown, callback: (error: Partial<ServiceError>) => void) => {
      const metadata = new Metadata();
      metadata.set("wonrail-error-bin", Buffer.from(ErrorDetail.encode({ code: "WAL_099" }).finish()));
      callback({ code: status.FAILED_PRECONDITION, details: "New.", metadata });
    },
  });
  const port = await new Promise<number>((resolve) => {
    newer.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, bound) => resolve(bound));
  });
  await expect(echoClient(port).say({ text: "" })).rejects.toMatchObject({
    code: "SYS_001",
    cause: { message: "unknown error code WAL_099" },
  });
  newer.forceShutdown();
});

test("unimplemented and unknown methods answer SYS_004", async () => {
  const { port } = await startEcho({});
  const client = echoClient(port);
  await expect(client.say({ text: "" })).rejects.toMatchObject({ code: "SYS_004" });
  await expect(take(client.repeat({ text: "" }))).rejects.toMatchObject({ code: "SYS_004" });
  const unknown = await rawCall(port, "", "/wonrail.test.v1.EchoService/Shout");
  expect(unknown.code).toBe(status.UNIMPLEMENTED);
});

test("bytes that are no message of the method answer REQ_001, to a call and to a stream", async () => {
  const repeat = jest.fn();
  const say = jest.fn();
  const { log, lines } = recordedLog();
  const { port } = await startEcho({ say, repeat }, { log });
  for (const method of ["Say", "Repeat"]) {
    const { code, metadata } = await rawCall(
      port,
      Buffer.from("{"),
      `/wonrail.test.v1.EchoService/${method}`,
    );
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(ErrorDetail.decode(metadata.get("wonrail-error-bin")[0] as Buffer).code).toBe("REQ_001");
  }
  expect(say).not.toHaveBeenCalled();
  expect(repeat).not.toHaveBeenCalled();
  expect(lines().filter(({ level }) => level === "error")).toEqual([]);
});

test("the server refuses a request over the limit and keeps the connection", async () => {
  const { port } = await startEcho({ say: async (note) => note }, { maxMessageBytes: 10_000 });
  const client = echoClient(port);
  await expect(client.say({ text: "x".repeat(20_000) })).rejects.toMatchObject({ code: "SYS_001" });
  expect((await rawCall(port, "x".repeat(20_000))).code).toBe(status.RESOURCE_EXHAUSTED);
  await expect(client.say({ text: "short" })).resolves.toEqual({ text: "short" });
});

test("a response over the client's limit fails only its call", async () => {
  const { port } = await startEcho({ say: async ({ text }) => ({ text: "x".repeat(Number(text)) }) });
  const client = echoClient(port, { maxReceiveBytes: 10_000 });
  await expect(client.say({ text: "20000" })).rejects.toMatchObject({ code: "SYS_001" });
  await expect(client.say({ text: "3" })).resolves.toEqual({ text: "xxx" });
});

test("headers beyond HTTP/2's limit are refused, and other calls continue", async () => {
  const { port } = await startEcho({ say: async (note) => note });
  const metadata = new Metadata();
  metadata.set("x-big", "y".repeat(100_000));
  const refused = await rawCall(port, "", "/wonrail.test.v1.EchoService/Say", metadata);
  expect(refused.code).not.toBe(status.OK);
  await expect(echoClient(port).say({ text: "still here" })).resolves.toEqual({ text: "still here" });
});

test("a response that cannot be encoded is SYS_001 and is logged", async () => {
  const { log, lines } = recordedLog();
  const round: { text: string; self?: unknown } = { text: "" };
  round.self = round;
  const { port } = await startEcho({ say: async () => round }, { log });
  await expect(echoClient(port).say({ text: "" })).rejects.toMatchObject({ code: "SYS_001" });
  expect(lines().filter(({ level }) => level === "error")).toHaveLength(1);
});

/** A plain gRPC call, without the kit's translation. */
function rawCall(
  port: number,
  content: string | Buffer,
  path = "/wonrail.test.v1.EchoService/Say",
  metadata = new Metadata(),
): Promise<ServiceError> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const asIs = (bytes: Buffer) => bytes;
  const request = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify({ text: content }));
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      asIs,
      asIs,
      request,
      metadata,
      { deadline: Date.now() + 20_000 },
      (error) => {
        client.close();
        resolve(error ?? (Object.assign(new Error("ok"), { code: status.OK }) as ServiceError));
      },
    );
  });
}

async function take<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const message of messages) taken.push(message);
  return taken;
}
