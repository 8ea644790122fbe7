import { eventually } from "@wonrail/kit/testing";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Refusals of the x402 operations, which x402's clients and ours can both read.

let auth: FakeAuthServer;
let gateway: TestGateway;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({ authPort: auth.port });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

test("a refused verification is invalid in x402's words, with our code and message", async () => {
  const { status, body } = await gateway.send("POST", "/x402/verify", { body: {} });
  expect(status).toBe(401);
  expect(body).toMatchObject({
    ...{ success: false, data: null, error: { code: "WAUTH_001" } },
    ...{ isValid: false, invalidReason: "unexpected_verify_error" },
    invalidMessage: `WAUTH_001: ${body.error!.message}`,
  });
});

test("a malformed settlement is no success in x402's words, and names its fields", async () => {
  const key = auth.addKey({}).text;
  const { status, body } = await gateway.send("POST", "/x402/settle", { key, body: { x402Version: 2 } });
  expect(status).toBe(400);
  expect(body).toMatchObject({
    ...{ success: false, data: null, error: { code: "REQ_001" } },
    ...{ errorReason: "invalid_payload", transaction: "", network: "" },
  });
  const { fields } = body.error!.details as { fields: { path: string }[] };
  expect(fields.map(({ path }) => path).sort()).toEqual(["paymentPayload", "paymentRequirements"]);
});

test("a refusal to read the support has the envelope only", async () => {
  const { status, body } = await gateway.send("GET", "/x402/supported");
  expect([status, Object.keys(body).sort()]).toEqual([
    401,
    ["data", "error", "requestId", "success", "timestamp"],
  ]);
});
