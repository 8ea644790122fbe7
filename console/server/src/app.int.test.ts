import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mayUse, OPERATOR_ROLES, readAdminRules } from "@wonrail/kit/admin";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { type Browser } from "./testing/browser";
import { startConsole, type TestConsole } from "./testing/startConsole";

// The routes of a signed-in page: admin RPCs by role, the live state, the files of the web part.

const world = buildWorld(async (open) => {
  const webFolder = open.folder();
  mkdirSync(join(webFolder, "assets"));
  writeFileSync(join(webFolder, "index.html"), "<!doctype html><title>Console</title>");
  writeFileSync(join(webFolder, "assets/index-1a2b.js"), "export {};");
  writeFileSync(join(webFolder, "..", "outside.js"), "secret");
  return { console: await startConsole(open, { webFolder, heartbeatMs: 50 }) };
});
afterAll(async () => (await world).close());

let console: TestConsole;
let admin: Browser;
beforeAll(async () => {
  ({ console } = await world);
  admin = await console.signIn(["admin"], "lee");
});

const PAUSE = "wonrail.relayer.v1.RelayerAdminService/PauseQueue";
const LIST_QUEUES = "wonrail.relayer.v1.RelayerAdminService/ListQueues";
const DEAD_LETTERS = "wonrail.common.v1.AdminService/ListDeadLetters";

describe("an admin RPC", () => {
  test("gets the operator of the session, the roles and the reason", async () => {
    const browser = await console.signIn(["viewer", "treasury"], "park");
    console.calls.length = 0;
    const body = { orgId: "org_1", reason: "asked by the bank" };
    const { status, json } = await browser.post(`/api/admin/${PAUSE}`, body);
    expect({ status, json }).toMatchObject({ status: 200, json: { success: true, data: {}, error: null } });
    expect(console.calls.filter(({ method }) => method === PAUSE)).toEqual([
      {
        method: PAUSE,
        request: {
          orgId: "org_1",
          operator: {
            name: "park",
            roles: ["OPERATOR_ROLE_VIEWER", "OPERATOR_ROLE_TREASURY"],
            reason: "asked by the bank",
          },
        },
      },
    ]);
    expect(console.lines.join("")).toMatch(/"outcome":"ok","operator":"park".*"msg":"operator action"/);
    expect(await console.registry.metrics()).toMatch(
      /^console_actions_total\{.*PauseQueue",outcome="ok"\} 1$/m,
    );
  });

  test("answers with the default of each field", async () => {
    const { json } = await admin.post(`/api/admin/${LIST_QUEUES}`);
    expect(json.data).toEqual({ queues: [] });
  });

  test("is refused without the name of a service when every service has the RPC", async () => {
    const { status } = await admin.post(`/api/admin/${DEAD_LETTERS}?service=ledger`, { limit: 5 });
    expect(status).toBe(200);
    for (const query of ["", "?service=nowhere", "?service=auth&service=ledger"]) {
      const refused = await admin.post(`/api/admin/${DEAD_LETTERS}${query}`, { limit: 5 });
      expect(refused.json.error).toMatchObject({
        code: "REQ_001",
        details: { fields: [{ path: "service" }] },
      });
    }
  });

  test.each([
    ["names an operator", { orgId: "org_1", reason: "x", operator: { name: "root" } }, "operator"],
    ["has no reason", { orgId: "org_1" }, "reason"],
    ["has an empty reason", { orgId: "org_1", reason: "  " }, "reason"],
    ["has a long reason", { orgId: "org_1", reason: "x".repeat(501) }, "reason"],
    ["has an unknown field", { orgId: "org_1", reason: "x", amount: 1 }, "(body)"],
    ["has a value of another type", { orgId: 5, reason: "x" }, "(body)"],
    ["is an array", [], "(body)"],
  ])("is refused when the body %s", async (_what, body, path) => {
    console.calls.length = 0;
    const { status, json } = await admin.post(`/api/admin/${PAUSE}`, body);
    expect({ status, error: json.error }).toMatchObject({
      status: 400,
      error: { code: "REQ_001", details: { fields: [{ path }] } },
    });
    expect(console.calls.filter(({ method }) => method === PAUSE)).toEqual([]);
  });

  test.each([
    ["/api/admin/wonrail.auth.v1.AuthService/ResolveKey", "REQ_004"],
    ["/api/admin/wonrail.relayer.v1.RelayerAdminService/constructor", "REQ_004"],
    ["/api/admin/__proto__/toString", "REQ_004"],
    ["/api/none", "REQ_004"],
  ])("%s is unknown", async (path, code) => {
    const { status, json } = await admin.post(path, {});
    expect({ status, code: json.error.code }).toEqual({ status: 404, code });
  });

  test("is refused with a body that is too large, or that is no JSON", async () => {
    const path = `/api/admin/${PAUSE}`;
    const large = await admin.post(path, { reason: "x".repeat(70_000) });
    expect({ status: large.status, code: large.json.error.code }).toEqual({ status: 413, code: "REQ_006" });
    const form = await admin.post(path, {}, { "content-type": "text/plain" });
    expect({ status: form.status, code: form.json.error.code }).toEqual({ status: 415, code: "REQ_007" });
  });
});

describe("the role matrix", () => {
  const rules = Object.entries(readAdminRules()).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, rule]) => ({ method: `${service}/${name}`, ...rule })),
  );

  test.each(OPERATOR_ROLES)(
    "an operator with the role %s gets exactly the RPCs of the table",
    async (held) => {
      const browser = await console.signIn([held], `only-${held}`);
      for (const { method, role, changes } of rules) {
        const query = method.startsWith("wonrail.common.") ? "?service=payment" : "";
        console.calls.length = 0;
        const { status, json } = await browser.post(
          `/api/admin/${method}${query}`,
          changes ? { reason: "test" } : {},
        );
        const reached = console.calls.filter(({ request }) => request.operator?.name === `only-${held}`);
        const outcome = {
          method,
          status,
          code: json.error?.code,
          reached: reached.map((call) => call.method),
        };
        expect(outcome).toEqual(
          mayUse(role, [held])
            ? { method, status: 200, code: undefined, reached: [method] }
            : { method, status: 403, code: "CON_002", reached: [] },
        );
      }
    },
  );
});

describe("a request from another site", () => {
  const body = { orgId: "org_1", reason: "forged" };
  const post = (headers: Record<string, string>) => admin.post(`/api/admin/${PAUSE}`, body, headers);

  test.each<[string, Record<string, string>]>([
    ["without a CSRF token", { "x-csrf-token": "" }],
    ["with a wrong CSRF token", { "x-csrf-token": "A".repeat(43) }],
    ["with another origin", { origin: "https://evil.example" }],
    ["with the origin null", { origin: "null" }],
    ["with an empty origin", { origin: "" }],
  ])("is refused %s", async (_what, headers) => {
    console.calls.length = 0;
    const { status, json } = await post(headers);
    expect({ status, code: json.error.code }).toEqual({ status: 403, code: "CON_003" });
    expect(console.calls.filter(({ method }) => method === PAUSE)).toEqual([]);
  });

  test("is refused with the CSRF token of another session", async () => {
    const other = await console.signIn(["admin"], "mallory");
    const { json } = await other.get("/api/session");
    expect((await post({ "x-csrf-token": String(json.data.csrfToken) })).status).toBe(403);
  });

  test("does not sign the operator out", async () => {
    expect((await admin.post("/auth/sign-out", {}, { origin: "https://evil.example" })).status).toBe(403);
    expect((await admin.get("/api/session")).status).toBe(200);
  });
});

test.each(["/", "/operations/opn_1", "/api/session", "/api/none", "/auth/sign-in", "/auth/none"])(
  "%s can neither be framed nor run a script of another host",
  async (path) => {
    const { headers, text } = await admin.get(path);
    const policy = headers.get("content-security-policy")!;
    for (const part of [
      "default-src 'none'",
      "script-src 'self';",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/script-src[^;]*(unsafe|http|\*)/);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(headers.has("x-powered-by")).toBe(false);
    expect(text).not.toContain("<script>");
  },
);

describe("the web part", () => {
  test("answers a path of the page's own routes with the page", async () => {
    const { status, text } = await admin.get("/wallets/wal_1?tab=holds");
    expect({ status, text }).toEqual({ status: 200, text: "<!doctype html><title>Console</title>" });
  });

  test("lets browsers keep files with a hash in their name", async () => {
    const { headers, text } = await admin.get("/assets/index-1a2b.js");
    expect(text).toBe("export {};");
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  test.each(["/assets/none.js", "/assets/..%2f..%2foutside.js", "/assets/%2e%2e/%2e%2e/outside.js"])(
    "%s is no file of it",
    async (path) => {
      const { text } = await admin.get(path);
      expect(text).not.toContain("secret");
    },
  );

  test("tells how to build it when it is absent", async () => {
    const own = await buildWorld(async (open) => ({ console: await startConsole(open) }));
    try {
      const { status, text } = await own.console.browser().get("/");
      expect(status).toBe(503);
      expect(text).toContain("npm run build -w @wonrail/console-web");
    } finally {
      await own.close();
    }
  });
});

describe("the live state", () => {
  test("is polled once for all listeners, and the last state comes at once", async () => {
    console.calls.length = 0;
    const [first, second] = await Promise.all([listen(admin), listen(admin)]);
    const state = await first.next("state");
    expect(await second.next("state")).toEqual(state);
    const { answers } = JSON.parse(state) as {
      answers: { service: string; method: string; response: object }[];
    };
    expect(answers).toContainEqual({
      service: "chain-relayer",
      method: LIST_QUEUES,
      response: { queues: [] },
    });
    expect(answers.filter(({ method }) => method === DEAD_LETTERS)).toHaveLength(6);
    expect(console.calls.filter(({ method }) => method === LIST_QUEUES)).toHaveLength(1);
    const third = await listen(admin);
    expect(await third.next("state")).toEqual(state);
    await Promise.all([first, second, third].map((stream) => stream.close()));
    await eventually(async () =>
      expect(await console.registry.metrics()).toMatch(/^console_live_listeners 0$/m),
    );
  });

  test("is refused to a stranger", async () => {
    expect((await console.browser().get("/api/live")).status).toBe(401);
  });

  test("ends when the session is over", async () => {
    const browser = await console.signIn(["viewer"], "leaving");
    const stream = await listen(browser);
    await stream.next("state");
    await console.db.run(sql`delete from sessions where operator = 'leaving'`);
    expect(await stream.next("signed-out")).toBe("{}");
    await stream.close();
  });

  async function listen({ cookies }: Browser) {
    const leaving = new AbortController();
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(new URL("/api/live", console.url), {
      headers: { cookie },
      signal: leaving.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    return {
      async next(event: string): Promise<string> {
        for (;;) {
          const found = new RegExp(`event: ${event}\\ndata: (.*)\\n\\n`).exec(text);
          if (found) {
            text = text.slice(found.index + found[0].length);
            return found[1]!;
          }
          const { value, done } = await reader.read();
          if (done) throw new Error(`the stream ended without ${event}: ${text}`);
          text += value;
        }
      },
      close: async () => leaving.abort(),
    };
  }
});
