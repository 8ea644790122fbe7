import { DomainError } from "@wonrail/kit/contract/errors";
import { eventually } from "@wonrail/kit/testing";
import { KeyAccess } from "@wonrail/proto/auth/v1/auth";
import { type Reply } from "../routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "../testing/fakeAuthServer";
import { countedRoute } from "../testing/countedRoute";
import { startGateway, type TestGateway } from "../testing/startGateway";

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Handler of the counted test route, set by each test. */
let work: () => Promise<Reply<{ done: boolean }>>;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const extraRoutes = [countedRoute("/test/counted", undefined, () => work())];
  gateway = await startGateway({ authPort: auth.port, extraRoutes });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

test("each request is one log line, with its ids and without its body", async () => {
  const { text, orgId } = auth.addKey();
  const body = { memo: "private words" };
  const { body: answer } = await gateway.send("POST", "/api/wallets/payment", { key: text, body });
  const lines = gateway.lines.filter((line) => line.includes(answer.requestId));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    method: "POST",
    route: "/api/wallets/payment",
    status: 400,
    code: "REQ_001",
    orgId,
    msg: "request",
  });
  expect(lines[0]).not.toContain("private words");
});

test("only the log line of a refused key holds the client address, with the organisation when it is known", async () => {
  const expired = { access: KeyAccess.REFRESH, refusal: new DomainError("WAUTH_002") };
  const { text, orgId } = auth.addKey(expired);
  const line = async (key?: string) => {
    const { body } = await gateway.send("GET", "/test/probe", key === undefined ? {} : { key });
    return JSON.parse(gateway.lines.find((each) => each.includes(body.requestId))!) as object;
  };
  expect(await line(text)).toMatchObject({
    status: 401,
    code: "WAUTH_002",
    orgId,
    clientAddress: "127.0.0.1",
  });
  const unknown = await line();
  expect(unknown).toMatchObject({ status: 401, code: "WAUTH_001", clientAddress: "127.0.0.1" });
  expect(unknown).not.toHaveProperty("orgId");
  expect(await line(auth.addKey().text)).not.toHaveProperty("clientAddress");
});

test.each([
  ["SYS_001", 500, "error"],
  ["SYS_002", 503, "error"],
  ["SYS_003", 504, "error"],
  ["PAY_001", 400, "info"],
] as const)(
  "a request that ends with %s is logged with status %i at level %s",
  async (code, status, level) => {
    work = async () => {
      throw new DomainError(code);
    };
    const { body } = await gateway.send("POST", "/test/counted", {
      key: auth.addKey().text,
      body: { amount: 1 },
    });
    const lines = gateway.lines.filter(
      (line) => line.includes(body.requestId) && line.includes('"msg":"request"'),
    );
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ status, level, code }]);
  },
);

test.each(["x", "y"])("a second Host header is refused: %s", async (second) => {
  const lines = ["GET /healthz HTTP/1.1", "Host: x", `Host: ${second}`, "Connection: close"];
  const { status, body } = await gateway.raw(`${lines.join("\r\n")}\r\n\r\n`);
  expect([status, body.error?.code, body.error?.details]).toEqual([
    400,
    "REQ_001",
    { fields: [{ path: "(header) Host", message: "is given twice" }] },
  ]);
});
