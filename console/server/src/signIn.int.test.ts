import { eventually } from "@wonrail/kit/testing";
import { sql } from "@wonrail/kit/db";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { LIMITS } from "./app";
import { startConsole, type TestConsole } from "./testing/startConsole";

// Sessions, and the sign-in by one-time links of a console without an identity provider.

const world = buildWorld(async (open) => ({ console: await startConsole(open) }));
afterAll(async () => (await world).close());

let console: TestConsole;
beforeAll(async () => void ({ console } = await world));

test("a stranger has no session, and hears where to sign in", async () => {
  const { status, json } = await console.browser().get("/api/session");
  expect({ status, error: json.error }).toMatchObject({
    status: 401,
    error: { code: "CON_001", details: { signInUrl: "/auth/sign-in", signIn: "link" } },
  });
  const page = await console.browser().get("/auth/sign-in");
  expect(page.text).toContain("npm run up prints a link");
});

test("a one-time link starts a session for its operator and roles", async () => {
  const browser = await console.signIn(["support", "treasury"], "park");
  const { status, json } = await browser.get("/api/session");
  expect(status).toBe(200);
  expect(json.data).toMatchObject({
    operator: { name: "park", roles: ["support", "treasury"] },
    csrfToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    network: "WON_TESTNET",
    methods: { "wonrail.relayer.v1.RelayerAdminService/PauseQueue": { role: "treasury", changes: true } },
  });
});

test("a link that is used twice at once succeeds once", async () => {
  const link = await console.newLink();
  const answers = await Promise.all([console.browser().get(link), console.browser().get(link)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
  const late = await console.browser().get(link);
  expect(late.text).toContain("Reason: the link was used, or it is too old.");
});

test("a link is refused after its hour", async () => {
  const link = await console.newLink();
  await console.db.run(sql`update sign_in_links set expires_at = now()`);
  expect((await console.browser().get(link)).status).toBe(400);
});

test("HEAD does not use up a link", async () => {
  const link = await console.newLink();
  expect((await console.browser().request("HEAD", link)).status).toBe(405);
  expect((await console.browser().get(link)).status).toBe(303);
});

test.each(["", "?token=", "?token=x", `?token=${"A".repeat(43)}`, `?token=a&token=b`])(
  "the link with the query %j is refused",
  async (query) => {
    expect((await console.browser().get(`/auth/link${query}`)).status).toBe(400);
  },
);

test("the cookie is invisible to scripts and to other sites, and the database has only its hash", async () => {
  const browser = console.browser();
  const { headers } = await browser.get(await console.newLink());
  const [cookie] = headers.getSetCookie().filter((line) => !line.includes("Expires=Thu, 01 Jan 1970"));
  expect(cookie).toMatch(/^wonrail-session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  const token = browser.cookies.get("wonrail-session")!;
  const rows = await console.db.query(
    sql`select encode(token_hash, 'escape') || s::text as text from sessions s`,
  );
  expect(JSON.stringify(rows)).not.toContain(token);
});

test("behind https the cookie is bound to the host and to TLS", async () => {
  const own = await buildWorld(async (open) => ({
    console: await startConsole(open, { settings: { PUBLIC_URL: "https://console.example.com" } }),
  }));
  try {
    const { headers } = await own.console.browser().get(await own.console.newLink());
    const cookie = headers.getSetCookie().find((line) => !line.includes("Expires=Thu, 01 Jan 1970"));
    expect(cookie).toMatch(/^__Host-wonrail-session=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toContain("Domain");
  } finally {
    await own.close();
  }
});

test("a token that an attacker planted before the sign-in stays without a session", async () => {
  const planted = "A".repeat(43);
  const victim = console.browser();
  victim.cookies.set("wonrail-session", planted);
  await victim.get(await console.newLink());
  expect(victim.cookies.get("wonrail-session")).not.toBe(planted);
  const attacker = console.browser();
  attacker.cookies.set("wonrail-session", planted);
  expect((await attacker.get("/api/session")).status).toBe(401);
});

test("a sign-in ends the session that the browser had", async () => {
  const browser = await console.signIn();
  const old = console.browser();
  old.cookies.set("wonrail-session", browser.cookies.get("wonrail-session")!);
  await browser.get(await console.newLink());
  expect((await browser.get("/api/session")).status).toBe(200);
  expect((await old.get("/api/session")).status).toBe(401);
});

test("two cookies of one name are no session, because a sub-domain may have set one", async () => {
  const browser = await console.signIn();
  const token = browser.cookies.get("wonrail-session")!;
  browser.cookies.set("wonrail-session", `${"A".repeat(43)}; wonrail-session=${token}`);
  expect((await browser.get("/api/session")).status).toBe(401);
});

test("a session ends after 15 minutes without a request, and reading it does not prolong it", async () => {
  const browser = await console.signIn(["viewer"], "idle");
  const age = (minutes: number) =>
    console.db.run(
      sql`update sessions set last_seen_at = now() - make_interval(mins => ${minutes}) where operator = 'idle'`,
    );
  await age(14);
  expect((await browser.get("/api/session")).status).toBe(200);
  await age(15);
  expect((await browser.get("/api/session")).status).toBe(401);
  await age(14);
  expect((await browser.post("/api/admin/wonrail.relayer.v1.RelayerAdminService/ListQueues")).status).toBe(
    200,
  );
  const { n } = await console.db.one<{ n: number }>(
    sql`select count(*)::integer as n from sessions where operator = 'idle' and last_seen_at > now() - interval '1 minute'`,
  );
  expect(n).toBe(1);
});

test("a session ends 8 hours after the sign-in, however busy it is", async () => {
  const browser = await console.signIn(["viewer"], "busy");
  await console.db.run(
    sql`update sessions set created_at = now() - interval '8 hours' where operator = 'busy'`,
  );
  expect((await browser.get("/api/session")).status).toBe(401);
  await console.app.deleteOld();
  const rows = await console.db.query(sql`select from sessions where operator = 'busy'`);
  expect(rows).toEqual([]);
});

test("the clean-up keeps sessions and links that are valid", async () => {
  const browser = await console.signIn();
  const link = await console.newLink();
  await console.app.deleteOld();
  expect((await browser.get("/api/session")).status).toBe(200);
  expect((await console.browser().get(link)).status).toBe(303);
});

test("the sign-out ends the session on the server", async () => {
  const browser = await console.signIn();
  const stolen = console.browser();
  stolen.cookies.set("wonrail-session", browser.cookies.get("wonrail-session")!);
  const { status, json } = await browser.post("/auth/sign-out");
  expect({ status, data: json.data }).toEqual({ status: 200, data: { endSessionUrl: null } });
  expect(browser.cookies.has("wonrail-session")).toBe(false);
  expect((await stolen.get("/api/session")).status).toBe(401);
});

test("sign-ins are counted", async () => {
  await console.signIn();
  await eventually(async () =>
    expect(await console.registry.metrics()).toMatch(
      /^console_sign_ins_total\{way="link",outcome="ok"\} [1-9]/m,
    ),
  );
});

test("the log names the operator of a sign-in, and has no token", async () => {
  const link = await console.newLink(["support"], "choi");
  const browser = console.browser();
  await browser.get(link);
  const { csrfToken } = (await browser.get("/api/session")).json.data;
  const line = await eventually(() => {
    const found = console.lines.find((each) => each.includes("operator signed in") && each.includes("choi"));
    return found ?? Promise.reject(new Error("the line is missing"));
  });
  expect(JSON.parse(line)).toMatchObject({ way: "link", operator: "choi", roles: ["support"] });
  const secrets = [link.split("=")[1]!, browser.cookies.get("wonrail-session")!, String(csrfToken)];
  for (const secret of secrets) expect(console.lines.join("\n")).not.toContain(secret);
});

test("an address has 20 attempts to sign in at once, and then one every 5 seconds", async () => {
  const own = await buildWorld(async (open) => ({ console: await startConsole(open, { limits: LIMITS }) }));
  try {
    const browser = own.console.browser();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 21; attempt += 1)
      statuses.push((await browser.get(`/auth/link?token=${"A".repeat(43)}`)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(400), 429]);
    const refused = await browser.get(await own.console.newLink());
    expect(refused.status).toBe(429);
  } finally {
    await own.close();
  }
});
