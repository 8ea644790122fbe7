import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@wonrail/kit/testing";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { startGateway, type TestGateway } from "./testing/startGateway";

const BUDGET_MS = 2_000;

let auth: FakeAuthServer;
let gateway: TestGateway;
const move = jest.fn(async () => ({ data: { done: true } }));

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const config = { REQUEST_BUDGET_MS: BUDGET_MS };
  const extraRoutes = [countedRoute("/test/counted", "MONEY_OPERATIONS", move)];
  gateway = await startGateway({ authPort: auth.port, config, extraRoutes });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

test("a request that waits for a quota unit until its deadline is answered as not executed", async () => {
  const { text: key } = auth.addKey();
  const charge = () => gateway.send("POST", "/test/counted", { key, body: { amount: 1 } });
  // The late request's body arrives half a second before its deadline. It joins the other request's
  // slower lease call.
  const headers = { "X-API-Key": key, "Content-Type": "application/json", "Content-Length": 12 };
  const late = request({ port: gateway.port, method: "POST", path: "/test/counted", headers, agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    late.once("response", (answer) => resolve(answer.resume().statusCode!)).once("error", reject);
  });
  late.flushHeaders();
  await sleep(BUDGET_MS - 600);
  // After leases of one and three units the next one is for several.
  for (let use = 0; use < 4; use += 1) expect((await charge()).status).toBe(201);
  auth.state.delayMs = 700;
  const second = charge();
  await sleep(100);
  late.end('{"amount":1}');

  expect(await answered).toBe(503);
  const done = (await second).status === 201 ? 5 : 4;
  expect(move).toHaveBeenCalledTimes(done);
});
