import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { implement } from "./server";
import { type DomainError } from "../contract/errors";
import { eventually } from "../testing/eventually";
import { closeAll, echoClient, EchoService, openProxy, startEcho } from "./echoService.testing";

afterEach(closeAll);

test("draining lets running calls end and accepts no new ones", async () => {
  const { port, drain, served } = await startHolding();
  const client = echoClient(port);
  const running = client.say({ text: "running" });
  const end = await served;
  const drained = drain(20_000);
  setTimeout(end, 100);
  await expect(running).resolves.toEqual({ text: "running" });
  await drained;
  await expect(echoClient(port).say({ text: "late" })).rejects.toMatchObject({ code: "SYS_002" });
});

test("draining cuts calls that do not end", async () => {
  const { port, drain, served } = await startHolding();
  const running = echoClient(port).say({ text: "" });
  await served;
  const startedAt = Date.now();
  const result = expect(running).rejects.toMatchObject({ code: "SYS_003" });
  await drain(100);
  await result;
  expect(Date.now() - startedAt).toBeLessThan(20_000);
});

test("a client is ready exactly while the server serves", async () => {
  const { port, setServing } = await startEcho({});
  const client = echoClient(port);
  // A readiness check waits for a second only, which a machine may well be held up for.
  await eventually(() => client.ready());
  setServing(false);
  await eventually(() => expect(client.ready()).rejects.toThrow("does not serve"));
  setServing(true);
  await eventually(() => client.ready());
  await eventually(() => expect(echoClient(1).ready()).rejects.toThrow("ECONNREFUSED"));
});

test("a server that is replaced within a second fails no retryable call", async () => {
  const say = async (note: { text: string }) => note;
  const first = await startEcho({ say });
  const client = echoClient(first.port, { breaker: { volumeThreshold: 1_000 } });
  await client.say({ text: "before" });
  await first.drain(0);
  const texts = Array.from({ length: 50 }, (_, number) => `${number}`);
  const calls = Promise.all(texts.map((text) => client.say({ text, requestId: text }, { retry: true })));
  await sleep(500);
  await startEcho({ say }, { port: first.port });
  expect((await calls).map(({ text }) => text)).toEqual(texts);
});

test("calls wait for an absent service during its first second, and later calls fail at once", async () => {
  const { port, drain } = await startEcho({ say: async (note) => note });
  const client = echoClient(port);
  await client.say({ text: "before" });
  await drain(0);
  const late = () => client.say({ text: "", requestId: "a" }, { retry: true });
  await expect(late()).rejects.toMatchObject({ code: "SYS_002" });
  const within = async (ms: number) => (await sleep(ms), "still waiting");
  expect(await Promise.race([late().catch((error: DomainError) => error.code), within(900)])).toBe("SYS_002");
});

test("connections reach their maximum age without failing a call that may be repeated", async () => {
  const { port } = await startEcho(
    { say: async (note) => (await sleep(20), note) },
    { maxConnectionAgeMs: 100, maxConnectionAgeGraceMs: 20_000 },
  );
  let connections = 0;
  const proxy = await openProxy(port, (chunk) => {
    if (chunk.includes("PRI * HTTP/2.0")) connections += 1;
  });
  const client = echoClient(proxy.port);
  const say = (requestId: string) => client.say({ text: "", requestId }, { retry: true });
  while (connections < 5) await Promise.all([say("a"), say("b")]);
});

test("reflection describes the served services when it is enabled", async () => {
  const services = [implement(AuthServiceService, {})];
  const { port } = await startEcho({}, { services, reflection: true });
  const [listed, described] = await reflect(port, [
    { list: true },
    { symbol: "wonrail.auth.v1.AuthService" },
  ]);
  expect(listed!.toString()).toContain("wonrail.auth.v1.AuthService");
  expect(described!.toString()).toContain("wonrail/auth/v1/auth.proto");
  const silent = await startEcho({}, { services });
  await expect(reflect(silent.port, [{ list: true }])).rejects.toMatchObject({
    details: expect.stringContaining("method"),
  });
});

test("an unknown handler name and a used port are refused at the start", async () => {
  const wrong = { definition: EchoService, handlers: { sey: async () => undefined } };
  await expect(startEcho({}, { services: [wrong] })).rejects.toThrow("there is no method sey");
  const { port } = await startEcho({});
  await expect(startEcho({}, { port })).rejects.toThrow(`gRPC cannot listen on 127.0.0.1:${port}`);
});

test("the descriptor set holds every service", () => {
  const descriptors = readFileSync(require.resolve("@wonrail/proto/descriptors"));
  const names = Object.keys(loadFileDescriptorSetFromBuffer(descriptors));
  expect(names).toEqual(
    expect.arrayContaining(["wonrail.auth.v1.AuthService", "wonrail.common.v1.ErrorDetail"]),
  );
});

/** A server that holds its first call until released. */
async function startHolding() {
  let arrived: (end: () => void) => void;
  const served = new Promise<() => void>((resolve) => (arrived = resolve));
  const echo = await startEcho({
    say: (note) => new Promise((resolve) => arrived(() => resolve(note))),
  });
  return { ...echo, served };
}

type Question = { list: true } | { symbol: string };

/** Speaks grpc.reflection.v1 with its two questions encoded by hand: list_services is field 7, file_containing_symbol field 4. */
function reflect(port: number, questions: Question[]): Promise<Buffer[]> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const asIs = (bytes: Buffer) => bytes;
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const stream = client.makeBidiStreamRequest(path, asIs, asIs, new Metadata(), {
    deadline: Date.now() + 20_000,
  });
  return new Promise((resolve, reject) => {
    const answers: Buffer[] = [];
    stream.on("data", (answer: Buffer) => answers.push(answer));
    stream.on("error", reject);
    stream.on("end", () => {
      client.close();
      resolve(answers);
    });
    for (const question of questions) {
      const [field, text] = "list" in question ? [7, "*"] : [4, question.symbol];
      stream.write(Buffer.concat([Buffer.from([(field << 3) | 2, text.length]), Buffer.from(text)]));
    }
    stream.end();
  });
}
