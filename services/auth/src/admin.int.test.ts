import { join } from "node:path";
import { parseApiKey, parseSecretKey } from "@wonrail/kit/contract/apiKey";
import { type ClientConfig } from "@wonrail/kit/command";
import { createAdminService } from "@wonrail/kit/admin";
import { sql } from "@wonrail/kit/db";
import { callersOf } from "@wonrail/kit/service";
import { openTestDatabase } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { makeAuthority } from "@wonrail/kit/testing/certificates";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { createOperations } from "./app";

const rules = { keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 } as const;
const authority = makeAuthority("wonrail test authority");
const identityOf = (name: string) => authority.issue(name, [`DNS:${name}`]);

const world = buildWorld(async (open) => {
  const database = await open.database({ schema: "auth", migrations: join(__dirname, "../migrations") });
  const services = [
    adminRpc(createOperations({ db: database.db, ...rules }), database.db),
    createAdminService({ db: database.db, service: "auth", commit: "0", topic: undefined }),
  ];
  const plain = await open.server(services);
  const tls = { tls: identityOf("auth"), callers: callersOf("auth", services) };
  const secure = await open.server(services, tls);
  return { database, address: plain.address, secureAddress: secure.address };
});
afterAll(async () => (await world).close());

test("org create makes an organisation and shows its keys once", async () => {
  const limits = [
    "--daily-limit",
    "1000000",
    "--daily-charge-limit",
    "2000000",
    "--max-charge",
    "700000",
    "--rate",
    "5",
  ];
  const terms = ["--plan", "FREE", "--incentive-bps", "100", ...limits];
  const made = await json("org", "create", "--name", "First Bank", "--code", "FIRST", ...terms);
  expect(made).toMatchObject({
    orgCode: "FIRST",
    name: "First Bank",
    status: "ACTIVE",
    plan: "FREE",
    incentiveBps: 100,
    dailyLimit: 1_000_000,
    dailyChargeLimit: 2_000_000,
    maxCharge: 700_000,
    rate: 5,
    burst: 10,
  });
  expect(parseApiKey(made.apiKey as string)).toBeDefined();
  expect(parseSecretKey(made.secretKey as string)).toBeDefined();
  expect(Date.parse(made.expiresAt as string)).toBeGreaterThan(Date.now());
  const again = [
    await run("org", "list"),
    await run("key", "list", "--org", "FIRST"),
    await run("audit", "list", "--org", "FIRST"),
  ];
  for (const { out } of again) {
    expect(out).not.toContain((made.apiKey as string).slice(21));
    expect(out).not.toContain((made.secretKey as string).slice(8));
  }
});

test("org create as text warns that the keys are shown once", async () => {
  const { code, out } = await run("org", "create", "--name", "Plain", "--code", "PLAIN");
  expect(code).toBe(0);
  expect(out).toMatch(/^apiKey +wk_test_/m);
  expect(out).toMatch(/^secretKey +sk_test_/m);
  expect(out).toContain("Hand both keys over now: they are not stored and cannot be shown again.");
});

test("org set changes the stated terms and keeps the others", async () => {
  await json("org", "create", "--name", "Settable", "--code", "SETTABLE");
  const changed = await json(
    "org",
    "set",
    "--code",
    "SETTABLE",
    "--subscription-ends",
    "2031-01-01",
    "--status",
    "SUSPENDED",
  );
  expect(changed).toMatchObject({
    name: "Settable",
    status: "SUSPENDED",
    subscriptionEnds: "2031-01-01T00:00:00.000Z",
  });
  const [entry] = await json<{ action: string; details: string }[]>("audit", "list", "--org", "SETTABLE");
  expect(entry!.action).toBe("organisation_changed");
  expect(JSON.parse(entry!.details)).toMatchObject({ status: { from: "ACTIVE", to: "SUSPENDED" } });
});

test("keys are issued, listed and revoked", async () => {
  await json("org", "create", "--name", "Keys", "--code", "KEYS");
  const issued = await json("key", "issue", "--org", "KEYS", "--expires", "2031-01-01T09:00:00+09:00");
  expect(issued).toMatchObject({ orgCode: "KEYS", expiresAt: "2031-01-01T00:00:00.000Z" });
  const revoked = await json("key", "revoke", "--org", "KEYS", "--key", issued.prefix as string);
  expect(revoked).toMatchObject({ revoked: true, prefix: issued.prefix });
  const keys = await json<{ prefix: string; state: string }[]>("key", "list", "--org", "KEYS");
  expect(keys.map(({ state }) => state)).toEqual(["REVOKED", "CURRENT"]);
});

test("key issue gives a name, scopes and addresses, and without them all scopes", async () => {
  await json("org", "create", "--name", "Scopes", "--code", "SCOPES");
  const rights = [
    "--scopes",
    "payments:write, wallets:read",
    "--allowed-addresses",
    "203.0.113.0/24,2001:db8::1",
  ];
  const issued = await json("key", "issue", "--org", "SCOPES", "--name", "shop", ...rights);
  const shown = {
    name: "shop",
    scopes: "wallets:read,payments:write",
    allowedAddresses: "203.0.113.0/24,2001:db8::1",
  };
  expect(issued).toMatchObject(shown);
  const [shop, first] = await json<Record<string, string>[]>("key", "list", "--org", "SCOPES");
  expect([shop, first]).toMatchObject([shown, { name: "API key", scopes: "all", allowedAddresses: "" }]);
});

describe("key revoke", () => {
  test.each([
    [[], 1],
    [["--with-successors"], 2],
    [["--leaked"], 2],
  ])("with %j revokes %d of three keys", async (options, revokedCount) => {
    const code = `CHAIN${options.join("").toUpperCase().replaceAll("-", "")}`;
    const { apiKey, secretKey } = await json<Record<string, string>>(
      ...["org", "create", "--name", "Chain", "--code", code],
    );
    const second = await refresh(apiKey!, secretKey!);
    const third = await refresh(second, secretKey!);
    const [, prefix] = [apiKey, second, third].map((key) => parseApiKey(key!)!.prefix);
    const revoked = await json("key", "revoke", "--org", code, "--key", prefix!, ...options);
    expect(revoked.revokedKeys).toHaveLength(revokedCount);
    const keys = await json<{ state: string }[]>("key", "list", "--org", code);
    expect(keys.filter(({ state }) => state === "REVOKED")).toHaveLength(revokedCount);
    const [entry] = await json<{ details: string }[]>("audit", "list", "--org", code);
    const facts = { reason: "asked by the partner", roles: ["admin"] };
    expect(JSON.parse(entry!.details)).toEqual({
      ...facts,
      ...(options[0] === "--leaked" && { isLeaked: true }),
    });
  });

  /** The overlap is 0 ms, so the presented key has ended when it is refreshed again. */
  async function refresh(apiKey: string, secretKey: string): Promise<string> {
    const { prefix, hash } = parseApiKey(apiKey)!;
    const { database } = await world;
    const auth = createOperations({ db: database.db, ...rules });
    const presented = { prefix, hash };
    return (await auth.refreshKey({ presented, secretKey, clientAddress: "192.0.2.1" })).apiKey;
  }
});

test("org rotate-secret changes the secret key", async () => {
  const made = await json("org", "create", "--name", "Rotate", "--code", "ROTATE");
  const rotated = await json("org", "rotate-secret", "--code", "ROTATE");
  expect(parseSecretKey(rotated.secretKey as string)).toBeDefined();
  expect(rotated.secretKey).not.toBe(made.secretKey);
});

test("audit entries name the operator, and a tampered trail exits with 1", async () => {
  await json("org", "create", "--name", "Trail", "--code", "TRAIL");
  const [entry] = await json<{ actor: string }[]>("audit", "list", "--org", "TRAIL");
  expect(entry!.actor).toBe("operator:kim");
  expect((await run("audit", "verify")).code).toBe(0);
  const { database } = await world;
  const owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  await owner.run(sql`update audit_entries set actor = 'operator:lee' where actor = 'operator:kim' and sequence = 1
    and org_id = (select org_id from organisations where code = 'TRAIL')`);
  const { code, out, err } = await run("audit", "verify");
  await owner.run(sql`update audit_entries set actor = 'operator:kim' where actor = 'operator:lee'`);
  await owner.close();
  expect(code).toBe(1);
  expect(out).toContain("its contents were changed");
  expect(err).toContain("tampered");
});

test("dead letters are listed, shown and replayed", async () => {
  const { database } = await world;
  await database.db.run(sql`
    insert into dead_letters
      (consumer_group, topic, partition, feed_number, message_key, event_type, headers, payload, error, digest)
    values ('auth', 'wonrail.wallet.v1', 0, 42, 'wal_1', 'wallet_created', '{"event_type":"wallet_created"}', '\\x00ff',
      ${"no such thing\n\u001b[2Jfake line"}, sha256('x'))`);
  const { out } = await run("dead-letter", "list", "--service", "auth");
  expect(out.split("\n")).toHaveLength(3);
  expect(out).toContain("no such thing\\u{a}\\u{1b}[2Jfake line");
  const [letter] = await json<{ id: string; type: string }[]>("dead-letter", "list", "--service", "auth");
  expect(letter).toMatchObject({ type: "wallet_created", state: "dead" });
  const shown = await json("dead-letter", "show", "--service", "auth", "--id", letter!.id);
  expect(shown).toMatchObject({
    number: "42",
    payloadBase64: "AP8=",
    headers: { event_type: "wallet_created" },
  });
  expect(await json("dead-letter", "replay", "--service", "auth", "--id", letter!.id)).toEqual({
    requested: 1,
  });
  expect((await run("dead-letter", "replay", "--service", "auth", "--id", letter!.id)).code).toBe(1);
});

describe("a wrong command line", () => {
  test.each<[string[], 1 | 2, string]>([
    [["org", "create", "--name", "x"], 2, "required option '--code <code>' not specified"],
    [
      ["org", "create", "--name", "x", "--code", "X1", "--plan", "GOLD"],
      2,
      "Allowed choices are FREE, STANDARD, ENTERPRISE",
    ],
    [["org", "create", "--name", "x", "--code", "X1", "--rate", "fast"], 2, "It must be a whole number"],
    [
      ["org", "create", "--name", "x", "--code", "X1", "--subscription-ends", "soon"],
      2,
      "It must be a time such as",
    ],
    [
      ["org", "create", "--name", "x", "--code", "X1", "--subscription-ends", "2027-02-30"],
      2,
      "It must be a time such as",
    ],
    [["org", "create", "--name", "x", "--code", "lower"], 1, "code: must be 2 to 32 characters"],
    [
      ["org", "create", "--name", "x", "--code", "X1", "--incentive-bps", "10001"],
      1,
      "incentive-bps: must be",
    ],
    [
      ["org", "create", "--name", "x", "--code", "X1", "--subscription-ends", "2001-01-01"],
      1,
      "subscription-ends: must be after",
    ],
    [
      ["org", "set", "--code", "NOBODY", "--rate", "1"],
      1,
      "organisation: there is none with the code NOBODY",
    ],
    [["org", "set", "--code", "FIRST"], 1, "There is nothing to change"],
    [["key", "issue", "--org", "NOBODY"], 1, "organisation: there is none with the code NOBODY"],
    [["key", "issue", "--org", "FIRST", "--expires", "2001-01-01"], 1, "expires: must be in the future"],
    [
      ["key", "issue", "--org", "FIRST", "--allowed-addresses", "10.0.0.1/8"],
      1,
      "allowed-addresses[0]: is no address range",
    ],
    [["key", "issue", "--org", "FIRST", "--name", ""], 1, "name: must be 1 to 100 characters long"],
    [
      ["key", "revoke", "--org", "FIRST", "--key", "wk_test_x"],
      1,
      "key: FIRST has no key with the prefix wk_test_x",
    ],
    [["dead-letter", "list"], 2, "required option '--service <name>' not specified"],
    [["dead-letter", "replay", "--service", "auth"], 1, "Give --id or --group."],
    [["wallet", "create"], 2, "unknown command 'wallet'"],
  ])("%j exits with %d and says %j", async (args, expected, sentence) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toContain(sentence);
  });

  test("a change without a reason is refused", async () => {
    const issue = ["key", "issue", "--org", "FIRST"];
    const { code, err } = await makeRun({})(...issue);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("required option '--reason <text>' not specified"),
    ]);
    expect(await run(...issue, "--reason", " ")).toMatchObject({
      code: 1,
      err: "reason: must be 1 to 500 characters\n",
    });
  });

  test("a used organisation code is refused", async () => {
    await run("org", "create", "--name", "x", "--code", "TAKEN");
    const { code, err } = await run("org", "create", "--name", "x", "--code", "TAKEN");
    expect([code, err]).toEqual([1, "code: another organisation has this code\n"]);
  });
});

test("help shows examples and exits with 0", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  expect(out).toContain("npx wonrail org create");
});

describe("the service", () => {
  test("admits the console, the CLI and its own pod, and no other process", async () => {
    const { secureAddress } = await world;
    const config = { AUTH_ADDRESS: secureAddress };
    for (const name of ["console", "cli", "auth"])
      expect((await run.with({ ...config, ...certificateOf(name) })("org", "list")).code).toBe(0);
    const { code, err } = await run.with({ ...config, ...certificateOf("gateway") })("org", "list");
    expect([code, err]).toEqual([1, "This caller may not use this method: see proto/callers.json.\n"]);
  });

  test("records the client's certificate with the operator", async () => {
    const { secureAddress } = await world;
    const named = run.with({ AUTH_ADDRESS: secureAddress, ...certificateOf("cli") });
    await named("org", "create", "--name", "Named", "--code", "NAMED", "--reason", "new partner");
    const [entry] = await json<{ details: string }[]>("audit", "list", "--org", "NAMED");
    expect(JSON.parse(entry!.details)).toMatchObject({
      reason: "new partner",
      roles: ["admin"],
      client: "cli",
    });
  });

  test("that is unknown is reported with the next step", async () => {
    const nowhere = { AUTH_ADDRESS: undefined, WONRAIL_HOME: "/nowhere" };
    expect(await run.with(nowhere)("org", "list")).toEqual({
      code: 2,
      out: "",
      err:
        "The address of auth is unknown: /nowhere/stack.json names none. " +
        "Start the stack with npm run up, or set AUTH_ADDRESS.\n",
    });
  });

  test("without an answer is reported with its address", async () => {
    const { code, err } = await run.with({ AUTH_ADDRESS: "127.0.0.1:1" })("org", "list");
    expect([code, err]).toEqual([
      2,
      "auth at 127.0.0.1:1 cannot be reached. Start the stack with npm run up, or set AUTH_ADDRESS.\n",
    ]);
  });
});

function certificateOf(name: string): Partial<ClientConfig> {
  const { cert, key, ca } = identityOf(name);
  return { TLS_CERT: cert.toString(), TLS_KEY: key.toString(), TLS_CA: ca.toString() };
}

function makeRun(changes: Partial<ClientConfig>) {
  return async (...args: string[]) => {
    let [out, err] = ["", ""];
    const { address } = await world;
    const code = await runAdmin(args, {
      config: { AUTH_ADDRESS: address, USER: "kim", ...changes },
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    return { code, out, err };
  };
}

const run = Object.assign((...args: string[]) => makeRun({})(...withReason(args)), { with: makeRun });

/** Commands that change state need a reason. */
function withReason(args: string[]): string[] {
  const changes = /^(org (create|set|rotate-secret)|key (issue|revoke)|dead-letter replay)$/;
  if (!changes.test(args.slice(0, 2).join(" ")) || args.includes("--reason")) return args;
  return [...args, "--reason", "asked by the partner"];
}

async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, out, err } = await run(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as T;
}
