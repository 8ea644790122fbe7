import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { SETTLEMENT_MEMOS } from "@wonrail/kit/contract/sandboxMemos";
import { eventually } from "@wonrail/kit/testing";
import { routes, type RouteDeps } from "./routes";
import { exampleOf } from "./routes/errorExamples";
import { story } from "./routes/examples";
import { refusalCodes } from "./routes/openapi";
import { createTransfer } from "./routes/transfers";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// The sandbox exists with test keys on a test network only. The table of memos in the guide is the
// list of these tests.

let auth: FakeAuthServer;
let gateway: TestGateway;
/** On the main network. */
let main: TestGateway;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({ authPort: auth.port });
  main = await startGateway({ authPort: auth.port, config: { NETWORK: "WON_MAINNET" } });
  await eventually(() => Promise.all([gateway.ready(), main.ready()]));
});

afterAll(async () => {
  await Promise.all([gateway.close(), main.close()]);
  await auth.close();
});

const table = routes({ clients: {}, principals: {} } as RouteDeps);
const sandboxRoutes = table.filter(({ operation }) => operation.sandboxOnly);
/** The bodies of x402 accept every field. */
const withMemo = table.filter(({ method, operation: { id, body, foreignFormat } }) => {
  if (method !== "POST" || foreignFormat) return false;
  return body?.safeParse({ ...exampleBody(id), memo: "x" }).success;
});
const operationIds = withMemo.map(({ operation }) => operation.id);

/** The rows of the guide: | `sandbox:CODE` | operations | status |. */
const rows = [...guide().matchAll(/^\| `sandbox:([A-Z]+_\d{3})` \| ([^|]+) \| (\d{3}) \|$/gm)].map(
  ([, code, operations, status]) => ({
    code: code as ErrorCode,
    operations:
      operations!.trim() === "all" ? operationIds : operations!.replaceAll("`", "").trim().split(", "),
    status: Number(status),
  }),
);

test("the guide lists every error of every operation that has a memo", () => {
  const wanted = withMemo.flatMap((route) =>
    refusalCodes(route).map((code) => `${code} ${route.operation.id}`),
  );
  const listed = rows.flatMap(({ code, operations }) => operations.map((id) => `${code} ${id}`));
  expect(listed.sort()).toEqual(wanted.sort());
  for (const memo of Object.keys(SETTLEMENT_MEMOS)) expect(guide()).toContain(`| \`${memo}\` |`);
});

test("the guide names the errors of a payout's row", () => {
  const [paragraph] = /^In a \[payout\][^]*?\n\n/m.exec(guide())!;
  const named = [...paragraph.matchAll(/`([A-Z]+_\d{3})`/g)].map(([, code]) => code);
  expect(named).toEqual(createTransfer.errors);
});

test.each(rows)(
  "the memo sandbox:$code is refused with it and $status",
  async ({ code, operations, status }) => {
    const key = auth.addKey().text;
    for (const id of operations) {
      const before = changes();
      const answer = await send(gateway, id, `sandbox:${code}`, key);
      expect([id, answer.status, answer.body.error?.code]).toEqual([id, status, code]);
      expect(status).toBe(errorTable[code].http);
      expect(answer.body.error!.details).toEqual(exampleOf(code).error.details);
      if (errorTable[code].retryable) expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      // The request called no service.
      expect(changes()).toBe(before);
    }
  },
);

test.each(["sandbox:", "sandbox:PAY_999", "sandbox:WHK_001", "sandbox:pay_001", "sandbox:__proto__"])(
  "the memo %s names no error of a charge",
  async (memo) => {
    const { status, body } = await send(gateway, "createCharge", memo, auth.addKey().text);
    expect([status, body.error?.code]).toEqual([400, "REQ_001"]);
    expect(body.error!.details).toMatchObject({ fields: [{ path: "memo" }] });
  },
);

test.each(["sandbox:settlement_held", "sandbox:settlement_failed", "my sandbox:PAY_001", "Sandbox:PAY_001"])(
  "the memo %s refuses nothing",
  async (memo) => {
    // The request reaches payment, which these tests do not have.
    const { body } = await send(gateway, "createCharge", memo, auth.addKey().text);
    expect(body.error?.code).toBe("SYS_004");
  },
);

describe.each([
  ["on a main network", () => ({ target: main, key: auth.addKey().text })],
  ["with a live key", () => ({ target: gateway, key: auth.addKey({}, "live").text })],
])("%s", (_where, made) => {
  test.each(sandboxRoutes.map(({ method, path }) => [method, path] as const))(
    "%s %s does not exist",
    async (method, path) => {
      const { target, key } = made();
      const place = path.replace(/:\w+/g, "x");
      const { status, body } = await target.send(method, place, { key, body: {} });
      expect([status, body.error?.code, body.error?.details]).toEqual([
        404,
        "REQ_004",
        { method, path: place },
      ]);
    },
  );

  test.each(operationIds)("a memo of %s is plain text", async (id) => {
    const { target, key } = made();
    const { body } = await send(target, id, "sandbox:RATE_001", key);
    expect(body.error?.code).toBe("SYS_004");
  });
});

test("the document of a main network has no sandbox, and that of a test network has all of it", async () => {
  const pathsOf = async (target: TestGateway) =>
    Object.keys(
      (JSON.parse((await target.send("GET", "/api/openapi.json")).text) as { paths: object }).paths,
    );
  const isSandbox = (path: string) => path.startsWith("/api/sandbox/");
  expect((await pathsOf(main)).filter(isSandbox)).toEqual([]);
  expect((await pathsOf(gateway)).filter(isSandbox)).toHaveLength(sandboxRoutes.length);
});

function send(target: TestGateway, id: string, memo: string, key: string) {
  const { method, path } = table.find(({ operation }) => operation.id === id)!;
  return target.send(method, path, { key, body: { ...exampleBody(id), memo } });
}

function exampleBody(id: string): object | undefined {
  return story.find(({ operation }) => operation === id)!.body;
}

/** Number of calls that could have changed data. */
function changes(): number {
  const { resolveKey: _key, leaseRate: _rate, ...rest } = auth.calls;
  return Object.values(rest).reduce((sum, calls) => sum + calls, 0);
}

function guide(): string {
  return readFileSync(join(__dirname, "../../docs/guides/sandbox.md"), "utf8");
}
