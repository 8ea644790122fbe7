import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { type CallerRules } from "./server";
import { makeAuthority } from "../testing/certificates";
import { closeAll, echoClient, startEcho } from "./echoService.testing";
import { type TlsIdentity } from "./tls";

afterEach(closeAll);

const authority = makeAuthority("wonrail test authority");
const server = authority.issue("anything", ["DNS:echo", "DNS:localhost"]);
const payment = authority.issue("anything", ["URI:spiffe://wonrail/payment", "DNS:payment"]);
const gateway = authority.issue("gateway", []);

const everyMethod = ["Say", "SayAll", "Repeat"].map((name) => `wonrail.test.v1.EchoService/${name}`);
const onlyPayment: CallerRules = Object.fromEntries(everyMethod.map((name) => [name, ["payment"]]));

test("the caller's name comes from its certificate: a DNS or URI name, or else the common name", async () => {
  const { port } = await startEcho(
    { say: async (_note, { caller }) => ({ text: String(caller) }) },
    { tls: server },
  );
  await expect(say(port, payment)).resolves.toBe("spiffe://wonrail/payment");
  await expect(say(port, gateway)).resolves.toBe("gateway");
});

test("a method refuses every caller that its rule does not name", async () => {
  const { port } = await startEcho(
    { say: async (_note, { caller }) => ({ text: String(caller) }) },
    { tls: server, callers: { ...onlyPayment, "wonrail.test.v1.EchoService/Repeat": [] } },
  );
  await expect(say(port, payment)).resolves.toBe("payment");
  await expect(say(port, gateway)).rejects.toMatchObject({
    code: "SYS_001",
    cause: { cause: { code: status.PERMISSION_DENIED } },
  });
  const notes = echoClient(port, { tls: payment }).repeat({ text: "" });
  await expect(notes[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    cause: { cause: { code: status.PERMISSION_DENIED } },
  });
});

test("a client without a certificate of the same authority is refused", async () => {
  const { port } = await startEcho({ say: async (note) => note }, { tls: server });
  const stranger = makeAuthority("somebody else").issue("payment", ["DNS:payment"]);
  await expect(say(port, { ...stranger, ca: server.ca })).rejects.toMatchObject({
    code: expect.stringMatching(/SYS_00[23]/),
  });
  expect((await callWith(port, credentials.createInsecure())).code).toBe(status.UNAVAILABLE);
  expect((await callWith(port, credentials.createSsl(server.ca))).code).toBe(status.UNAVAILABLE);
});

test("a client refuses a server of another authority or with another name", async () => {
  const other = makeAuthority("somebody else").issue("anything", ["DNS:echo", "DNS:localhost"]);
  const { port } = await startEcho({ say: async (note) => note }, { tls: other });
  await expect(say(port, payment)).rejects.toMatchObject({ code: "SYS_002" });
  const misnamed = await startEcho(
    { say: async (note) => note },
    { tls: authority.issue("x", ["DNS:localhost"]) },
  );
  await expect(say(misnamed.port, payment)).rejects.toMatchObject({ code: "SYS_002" });
});

test("without TLS the rules are not enforced, but must be complete", async () => {
  const { port } = await startEcho({ say: async (note) => note }, { callers: onlyPayment });
  await expect(echoClient(port).say({ text: "hello" })).resolves.toEqual({ text: "hello" });
  const { "wonrail.test.v1.EchoService/Say": _say, ...incomplete } = onlyPayment;
  await expect(startEcho({}, { callers: incomplete })).rejects.toThrow(
    "callers has no rule for wonrail.test.v1.EchoService/Say",
  );
  const wrong = { ...onlyPayment, "wonrail.test.v1.EchoService/Sing": [] };
  await expect(startEcho({}, { callers: wrong })).rejects.toThrow("EchoService/Sing, which is not served");
});

async function say(port: number, tls: TlsIdentity): Promise<string> {
  const { text } = await echoClient(port, { tls }).say({ text: "" });
  return text;
}

function callWith(
  port: number,
  secure: ReturnType<typeof credentials.createInsecure>,
): Promise<ServiceError> {
  const client = new Client(`localhost:${port}`, secure);
  const asIs = (bytes: Buffer) => bytes;
  const path = "/wonrail.test.v1.EchoService/Say";
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      asIs,
      asIs,
      Buffer.from("{}"),
      new Metadata(),
      { deadline: Date.now() + 20_000 },
      (error) => {
        client.close();
        if (error) resolve(error);
        else reject(new Error("the call was served"));
      },
    );
  });
}
