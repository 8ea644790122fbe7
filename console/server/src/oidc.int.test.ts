import { generateKeyPairSync } from "node:crypto";
import { sql } from "@wonrail/kit/db";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { type Answer, type Browser } from "./testing/browser";
import {
  type Claims,
  claimsOf,
  CLIENT,
  encode,
  signToken,
  startIdentityProvider,
  type TestProvider,
} from "./testing/identityProvider";
import { startConsole, type TestConsole } from "./testing/startConsole";

// The sign-in by OpenID Connect, with a certified provider.

const world = buildWorld(async (open) => {
  const provider: { now?: TestProvider } = {};
  const console = await startConsole(open, {
    identityOf: async (url) => {
      const { issuer } = (provider.now = await open.use(startIdentityProvider(url)));
      return { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
    },
  });
  return { console, provider: provider.now! };
});
afterAll(async () => (await world).close());

let console: TestConsole;
let provider: TestProvider;
beforeAll(async () => {
  ({ console, provider } = await world);
  provider.accounts.set("park", {
    email: "park@bank.example",
    email_verified: true,
    roles: ["treasury", "x"],
  });
});
beforeEach(() => (provider.forge = undefined));

/** The pages of the provider, up to the redirect to the callback of the console. */
async function logIn(browser: Browser, login: string, start = "/auth/sign-in"): Promise<string> {
  const page = await browser.visit(start);
  const { origin } = new URL(page.url);
  let answer = await browser.postForm(formOf(page.text, origin), { prompt: "login", login, password: "x" });
  for (let hops = 0; hops < 10; hops += 1) {
    const next = new URL(answer.headers.get("location") ?? "", origin).href;
    if (next.startsWith(`${console.url}/auth/callback`)) return next;
    answer = await browser.get(next);
    if (answer.status === 200)
      answer = await browser.postForm(formOf(answer.text, origin), { prompt: "consent" });
  }
  throw new Error("the provider never redirected to the console");
}

function formOf(page: string, origin: string): string {
  return new URL(/<form[^>]* action="([^"]+)"/.exec(page)![1]!, origin).href;
}

async function expectRefused(browser: Browser, { status, text }: Answer, reason: string): Promise<void> {
  expect({ status, reason: /Reason: (.*?)\./.exec(text)?.[1] }).toEqual({ status: 400, reason });
  expect((await browser.get("/api/session")).status).toBe(401);
}

const NOT_VALID = "the identity provider&#39;s answer is not valid";

test("the operator gets the name and the roles of the claims, and returns to the wanted page", async () => {
  const browser = console.browser();
  const callback = await logIn(browser, "park", "/auth/sign-in?returnTo=/operations/opn_1%3Ftab=chain");
  const { status, headers } = await browser.get(callback);
  expect({ status, location: headers.get("location") }).toEqual({
    status: 303,
    location: "/operations/opn_1?tab=chain",
  });
  const { json } = await browser.get("/api/session");
  expect(json.data).toMatchObject({
    operator: { name: "park@bank.example", roles: ["treasury"] },
    signIn: "oidc",
  });
});

test("the request to the provider has a PKCE challenge, a state and a nonce, new for each sign-in", async () => {
  const begin = async () => {
    const { headers } = await console.browser().get("/auth/sign-in");
    return Object.fromEntries(new URL(headers.get("location")!).searchParams);
  };
  const [first, second] = [await begin(), await begin()];
  expect(first).toMatchObject({
    response_type: "code",
    client_id: CLIENT.id,
    redirect_uri: `${console.url}/auth/callback`,
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
  });
  for (const name of ["state", "nonce", "code_challenge"]) {
    expect(first[name]!.length).toBeGreaterThanOrEqual(43);
    expect(first[name]).not.toBe(second[name]);
  }
});

test.each([
  "//evil.example",
  "/\\evil.example",
  "/.//evil.example",
  "https://evil.example",
  "javascript:alert(1)",
])("the sign-in does not redirect to %s", async (returnTo) => {
  const browser = console.browser();
  const callback = await logIn(browser, "park", `/auth/sign-in?returnTo=${encodeURIComponent(returnTo)}`);
  expect((await browser.get(callback)).headers.get("location")).toBe("/");
});

describe("an ID token is refused", () => {
  const { privateKey: foreignKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const now = () => Math.floor(Date.now() / 1000);
  const changed = (changes: Claims) => (token: string) => provider.sign({ ...claimsOf(token), ...changes });

  test.each<[string, (token: string) => string]>([
    ["with another signer's signature", (token) => signToken(claimsOf(token), foreignKey)],
    [
      "with changed claims under the old signature",
      (token) => {
        const [header, , signature] = token.split(".");
        return `${header}.${encode({ ...claimsOf(token), roles: ["admin"] })}.${signature}`;
      },
    ],
    ["with the algorithm none", (token) => `${encode({ alg: "none" })}.${encode(claimsOf(token))}.`],
    ["for another client", changed({ aud: "another-client" })],
    ["of another issuer", changed({ iss: "https://evil.example" })],
    ["with another nonce", changed({ nonce: "forged" })],
    ["without a nonce", changed({ nonce: undefined })],
    ["after its expiry", changed({ exp: now() - 3_600 })],
    [
      "for several clients without the authorized party",
      changed({ aud: [CLIENT.id, "other"], azp: undefined }),
    ],
    ["that is no token", () => "forged"],
  ])("%s", async (_what, forge) => {
    provider.forge = forge;
    const browser = console.browser();
    await expectRefused(browser, await browser.get(await logIn(browser, "park")), NOT_VALID);
  });

  test("but is taken when the provider signs the same claims", async () => {
    provider.forge = changed({});
    const browser = console.browser();
    expect((await browser.get(await logIn(browser, "park"))).status).toBe(303);
  });
});

describe("the callback is refused", () => {
  const OVER = "this sign-in is over, or began in another browser";

  test("in another browser than the sign-in began in", async () => {
    const attacker = console.browser();
    const callback = await logIn(attacker, "park");
    const victim = console.browser();
    await expectRefused(victim, await victim.get(callback), OVER);
  });

  test("a second time", async () => {
    const browser = console.browser();
    const token = console.browser();
    const callback = await logIn(browser, "park");
    for (const [name, value] of browser.cookies) token.cookies.set(name, value);
    expect((await browser.get(callback)).status).toBe(303);
    await expectRefused(token, await token.get(callback), OVER);
  });

  test("after ten minutes", async () => {
    const browser = console.browser();
    const callback = await logIn(browser, "park");
    await console.db.run(sql`update sign_ins set expires_at = now()`);
    await expectRefused(browser, await browser.get(callback), OVER);
  });

  test.each<[string, (url: URL) => void]>([
    ["with another state", (url) => url.searchParams.set("state", "forged")],
    ["without a state", (url) => url.searchParams.delete("state")],
    ["with another code", (url) => url.searchParams.set("code", "forged")],
    [
      "with the error of the provider",
      (url) => (url.search = `?error=access_denied&state=${url.searchParams.get("state")}`),
    ],
  ])("%s", async (_what, change) => {
    const browser = console.browser();
    const callback = new URL(await logIn(browser, "park"));
    change(callback);
    await expectRefused(browser, await browser.get(callback.href), NOT_VALID);
  });
});

test.each<[string, Claims, string]>([
  ["norole", { email: "a@bank.example", roles: [] }, "the claim roles names no role of the console"],
  [
    "strange",
    { email: "a@bank.example", roles: { admin: true } },
    "the claim roles names no role of the console",
  ],
  ["noname", { roles: ["admin"] }, "the claim email must be 1 to 64 printable characters"],
  [
    "long",
    { email: "a".repeat(65), roles: ["admin"] },
    "the claim email must be 1 to 64 printable characters",
  ],
  [
    "unverified",
    { email: "a@bank.example", email_verified: false, roles: ["admin"] },
    "the identity provider has not verified the email address",
  ],
])("the account %s is refused for its claims", async (login, claims, reason) => {
  provider.accounts.set(login, claims);
  const browser = console.browser();
  await expectRefused(browser, await browser.get(await logIn(browser, login)), reason);
});

test("the log has the reason of a failed sign-in, and no code, token or secret", async () => {
  provider.forge = (token) => provider.sign({ ...claimsOf(token), nonce: "forged" });
  const browser = console.browser();
  const callback = new URL(await logIn(browser, "park"));
  await browser.get(callback.href);
  const text = console.lines.join("\n");
  expect(text).toMatch(
    /"reason":"the identity provider's answer is not valid".*nonce.*"msg":"sign-in failed"/,
  );
  for (const name of ["code", "state"]) expect(text).not.toContain(callback.searchParams.get(name));
  expect(text).not.toContain(CLIENT.secret);
  expect(text).not.toMatch(/eyJ[\w-]+\.[\w-]+\./);
});

test("one-time links do not work beside an identity provider", async () => {
  expect((await console.browser().get(await console.newLink())).status).toBe(404);
});

test("the sign-out leads to the provider's own", async () => {
  const browser = console.browser();
  await browser.get(await logIn(browser, "park"));
  const { json } = await browser.post("/auth/sign-out");
  const endSession = new URL(String(json.data.endSessionUrl));
  expect(endSession.origin).toBe(provider.issuer);
  expect(endSession.searchParams.get("post_logout_redirect_uri")).toBe(`${console.url}/`);
  expect((await browser.get("/api/session")).status).toBe(401);
});

test("a provider that is away is reported, and the next sign-in tries it again", async () => {
  const OIDC_ISSUER = "http://127.0.0.1:1";
  const own = await buildWorld(async (open) => ({
    console: await startConsole(open, { settings: { OIDC_ISSUER, OIDC_CLIENT_ID: CLIENT.id } }),
  }));
  try {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { status, text } = await own.console.browser().get("/auth/sign-in");
      expect(status).toBe(400);
      expect(text).toContain("the identity provider cannot be reached");
    }
  } finally {
    await own.close();
  }
});
