import { z } from "zod";
import { API_VERSIONS, LATEST_API_VERSION } from "@wonrail/kit/contract/apiVersions";
import { eventually } from "@wonrail/kit/testing";
import { operation, route } from "./routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// The header Wonrail-Version, and the headers of deprecated operations.

const oldOperation = operation({
  id: "oldTest",
  tag: "Service",
  summary: "For tests",
  access: "full",
  status: 200,
  data: z.strictObject({ done: z.literal(true) }),
  errors: [],
  deprecated: { since: "2026-02-01", sunset: "2026-08-01", advice: "Use another." },
});
const oldRoute = route("GET", "/test/old", oldOperation, async () => ({ data: { done: true as const } }));

let auth: FakeAuthServer;
let gateway: TestGateway;
beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({ authPort: auth.port, extraRoutes: [oldRoute] });
  await eventually(() => gateway.ready());
});
afterAll(async () => {
  await gateway.close();
  await auth.close();
});

const PROBE = "/test/probe";
const versionOf = async (path: string, options: Parameters<TestGateway["send"]>[2]) =>
  (await gateway.send("GET", path, options)).headers["wonrail-version"];

test("an answer has the version of the request, else that of the key, else the newest", async () => {
  // A key of an earlier release can have a version that this build no longer offers.
  const { text: key } = auth.addKey({ apiVersion: "2025-01-01" });
  expect(await versionOf(PROBE, { key })).toBe("2025-01-01");
  const headers = { "Wonrail-Version": LATEST_API_VERSION };
  expect(await versionOf(PROBE, { key, headers })).toBe(LATEST_API_VERSION);
  expect(await versionOf("/healthz", {})).toBe(LATEST_API_VERSION);
  expect(await versionOf(PROBE, {})).toBe(LATEST_API_VERSION);
  expect(await versionOf("/api/nothing", { key })).toBe(LATEST_API_VERSION);
  expect(await versionOf("/api/wallets?limit=0", { key })).toBe("2025-01-01");
});

test.each(["", "latest", "1999-01-01", "2026-1-1", `${LATEST_API_VERSION}, ${LATEST_API_VERSION}`])(
  "the unknown version %j is refused, and the refusal names the known ones",
  async (version) => {
    const { text: key } = auth.addKey();
    for (const path of [PROBE, "/healthz", "/api/events/stream"]) {
      const { status, body } = await gateway.send("GET", path, {
        key,
        headers: { "Wonrail-Version": version },
      });
      const { code, details } = body.error!;
      expect([status, code, details]).toEqual([400, "REQ_008", { versions: API_VERSIONS }]);
    }
  },
);

test("a deprecated operation says since when and until when, in refusals too", async () => {
  const { text: key } = auth.addKey();
  for (const [path, status] of [["/test/old", 200] as const, ["/test/old?x=1", 400] as const]) {
    const answer = await gateway.send("GET", path, { key });
    expect(answer.status).toBe(status);
    const { deprecation, sunset } = answer.headers;
    expect([deprecation, sunset]).toEqual(["@1769904000", "Sat, 01 Aug 2026 00:00:00 GMT"]);
  }
  const { headers } = await gateway.send("GET", PROBE, { key });
  expect([headers.deprecation, headers.sunset]).toEqual([undefined, undefined]);
});
