import { connect } from "node:net";
import { eventually } from "@wonrail/kit/testing";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { startGateway, type TestGateway } from "./testing/startGateway";

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Never done while its client is there. */
const move = jest.fn(() => new Promise<never>(() => undefined));

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({
    authPort: auth.port,
    extraRoutes: [countedRoute("/test/counted", undefined, move)],
  });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

test("a connection closes after its last allowed request, and later pipelined requests are not started", async () => {
  const work = jest.fn(async () => ({ data: { done: true } }));
  const extraRoutes = [countedRoute("/test/counted", undefined, work)];
  const limited = await startGateway({ authPort: auth.port, extraRoutes, maxRequestsPerSocket: 3 });
  const { status, text } = await limited.raw(request().repeat(7), 5_000);
  await limited.close();
  const others = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)];
  expect([status, ...others.map((match) => Number(match[1]))]).toEqual([201, 201, 201]);
  expect(text.match(/"success":true/g)).toHaveLength(3);
  expect(text.match(/^Connection: .*$/gm)!.at(-1)).toContain("close");
  expect(work).toHaveBeenCalledTimes(3);
});

test("pipelined requests whose client leaves are completed, counted and logged", async () => {
  const socket = connect(gateway.port, "127.0.0.1").on("error", () => undefined);
  socket.write(request().repeat(12));
  await eventually(() => expect(move).toHaveBeenCalledTimes(12));
  socket.destroy();
  await eventually(async () => {
    expect(await gateway.registry.getSingleMetricAsString("http_requests_in_flight")).toMatch(
      /http_requests_in_flight 0$/m,
    );
  });
  expect(gateway.lines.filter((line) => line.includes('"request aborted"'))).toHaveLength(12);
});

function request(): string {
  const lines = [`X-API-Key: ${auth.addKey().text}`, "Content-Type: application/json", "Content-Length: 12"];
  return ["POST /test/counted HTTP/1.1", "Host: x", ...lines, "", '{"amount":1}'].join("\r\n");
}
