import { createApiKey } from "@wonrail/kit/contract/apiKey";
import { DomainError } from "@wonrail/kit/contract/errors";
import { Registry } from "@wonrail/kit/metrics";
import { createAddressLimits } from "@wonrail/kit/addressLimits";
import { type Principal } from "./principal";
import { createPrincipals, type Principals, type ResolvedKey, type ResolveKey } from "./principals";

const ADDRESS = "192.0.2.1";
const key = createApiKey("test").text;

const principal: Principal = {
  orgId: "org_1",
  orgCode: "ACME",
  keyId: "key_1",
  isTestKey: true,
  keyUsableUntil: new Date(10_000_000),
  subscriptionEndsAt: new Date(20_000_000),
  ratePerSecond: 10,
  rateBurst: 10,
  scopes: new Set<string>(),
  allowedAddresses: [],
  apiVersion: "2026-01-01",
};
const FULL: ResolvedKey = { access: "full", refusal: undefined, principal, cacheableMs: 1_000 };
const NONE: ResolvedKey = {
  access: "none",
  refusal: new DomainError("WAUTH_001"),
  principal: undefined,
  cacheableMs: 1_000,
};

function start(resolveKey: ResolveKey, outageGraceMs = 60_000) {
  const clock = { nowMs: 0 };
  const resolve = jest.fn(resolveKey);
  const monotonicMs = () => clock.nowMs;
  const principals = createPrincipals({
    resolveKey: resolve,
    guesses: createAddressLimits({ perSecond: 1, burst: 20, monotonicMs }),
    registry: new Registry(),
    outageGraceMs,
    monotonicMs,
    nowMs: monotonicMs,
  });
  return { clock, resolve, principals, lookUp: async (apiKey = key) => principals.lookUp(apiKey, ADDRESS) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a key that was just looked up is answered without a call", async () => {
  const { resolve, principals, lookUp } = start(async () => FULL);
  expect(await lookUp()).toMatchObject({ access: "full", principal });
  expect(principals.lookUp(key, ADDRESS)).not.toBeInstanceOf(Promise);
  expect(resolve).toHaveBeenCalledTimes(1);
});

test("a hundred requests with a new key cause one call", async () => {
  const { resolve, lookUp } = start(async () => FULL);
  await Promise.all(Array.from({ length: 100 }, () => lookUp()));
  expect(resolve).toHaveBeenCalledTimes(1);
});

test("a key in use never makes a request wait: its look-up is refreshed at half of its lifetime", async () => {
  const { clock, resolve, principals, lookUp } = start(async () => FULL);
  await lookUp();
  for (clock.nowMs = 50; clock.nowMs <= 10_000; clock.nowMs += 50) {
    expect(principals.lookUp(key, ADDRESS)).not.toBeInstanceOf(Promise);
    await settle();
  }
  expect(resolve.mock.calls.length).toBeLessThanOrEqual(21);
});

test("a cached look-up lives for at most a second from its request", async () => {
  const { clock, resolve, lookUp } = start(async () => {
    clock.nowMs += 400;
    return { ...FULL, cacheableMs: 3_600_000 };
  });
  await lookUp();
  clock.nowMs = 999;
  resolve.mockRejectedValueOnce(new DomainError("SYS_002"));
  await lookUp();
  await settle();
  clock.nowMs = 1_000;
  await lookUp();
  // The first look-up, the background one at 999, and the awaited one at 1000.
  expect(resolve).toHaveBeenCalledTimes(3);
});

test("a revoked key is refused within a second without a pushed revocation", async () => {
  let answer = FULL;
  const { clock, lookUp } = start(async () => answer);
  await lookUp();
  answer = NONE;
  clock.nowMs = 1_000;
  expect(await lookUp()).toMatchObject({ access: "none" });
});

test("a pushed revocation takes effect at once", async () => {
  let answer = FULL;
  const { principals, lookUp } = start(async () => answer);
  await lookUp();
  answer = NONE;
  principals.forgetKey("key_1");
  expect(await lookUp()).toMatchObject({ access: "none" });
});

test.each<[string, (principals: Principals) => void]>([
  ["a revoked key", ({ forgetKey }) => forgetKey("key_1")],
  ["a changed organisation", ({ forgetOrganisation }) => forgetOrganisation("org_1")],
  ["a stream that began anew", ({ markAllStale }) => markAllStale()],
])("a look-up that started before a pushed change is not cached: %s", async (_, change) => {
  let answer = Promise.resolve(FULL);
  const { principals, lookUp } = start(() => answer);
  let release: (value: ResolvedKey) => void = () => undefined;
  answer = new Promise((resolve) => (release = resolve));
  const early = lookUp();
  change(principals);
  release(FULL);
  await early;
  answer = Promise.resolve(NONE);
  expect(await lookUp()).toMatchObject({ access: "none" });
});

test("a request after a pushed revocation does not join a look-up that started before it", async () => {
  const { clock, resolve, principals, lookUp } = start(async () => FULL);
  await lookUp();
  let answerLate = (_: ResolvedKey) => {};
  resolve.mockImplementationOnce(() => new Promise((answer) => (answerLate = answer)));
  clock.nowMs = 600;
  await lookUp();
  principals.forgetKey("key_1");
  resolve.mockResolvedValue(NONE);
  const after = lookUp();
  answerLate(FULL);
  expect(await after).toMatchObject({ access: "none" });
  expect(await lookUp()).toMatchObject({ access: "none" });
  expect(resolve).toHaveBeenCalledTimes(3);
});

test("a changed organisation is looked up anew", async () => {
  let answer = FULL;
  const { principals, lookUp } = start(async () => answer);
  await lookUp();
  answer = { ...FULL, access: "session", refusal: new DomainError("WAUTH_003") };
  principals.forgetOrganisation("org_2");
  expect(await lookUp()).toMatchObject({ access: "full" });
  principals.forgetOrganisation("org_1");
  expect(await lookUp()).toMatchObject({ access: "session" });
});

test("after a reconnect of the change stream every cached key is looked up again", async () => {
  const { resolve, principals, lookUp } = start(async () => FULL);
  await lookUp();
  resolve.mockResolvedValue(NONE);
  principals.markAllStale();
  expect(await lookUp()).toMatchObject({ access: "none" });
});

describe("when auth does not answer", () => {
  /** Each from another address, within its guesses. */
  const flood = (principals: Principals, count: number) =>
    Array.from({ length: count }, (_, index) =>
      Promise.resolve(principals.lookUp(createApiKey("test").text, `10.0.${index >> 8}.${index & 255}`)),
    );

  test("a look-up of an unknown key is SYS_002 at once while 500 others wait", async () => {
    const { principals } = start(() => new Promise(() => undefined));
    const last = flood(principals, 501).at(-1);
    await expect(last).rejects.toMatchObject({ code: "SYS_002", details: { retryAfterMs: 1000 } });
  });

  test("unknown keys that wait leave room for the look-up of a known key", async () => {
    const { clock, resolve, principals, lookUp } = start(async () => FULL);
    await lookUp();
    resolve.mockImplementation(() => new Promise(() => undefined));
    for (const each of flood(principals, 1_500)) each.catch(() => undefined);
    clock.nowMs = 1_000;
    resolve.mockImplementation(async () => FULL);
    expect(await lookUp()).toMatchObject({ access: "full" });
  });

  test("a known key is not served from memory when this process itself refused its look-up", async () => {
    const { clock, resolve, lookUp } = start(async () => FULL);
    const keys = Array.from({ length: 1_001 }, () => createApiKey("test").text);
    for (const each of keys) await lookUp(each);
    resolve.mockImplementation(() => new Promise(() => undefined));
    clock.nowMs = 1_000;
    const lookUps = keys.map((each) => lookUp(each));
    await expect(lookUps.at(-1)).rejects.toMatchObject({ code: "SYS_002" });
  });
});

test.each(["", "x", "wk_test_short", `${key.slice(0, -1)}!`, "k".repeat(10_000)])(
  "a key of a wrong form (%#) costs no call",
  async (malformed) => {
    const { resolve, lookUp } = start(async () => FULL);
    expect(await lookUp(malformed)).toMatchObject({ access: "none" });
    expect(resolve).not.toHaveBeenCalled();
  },
);

describe("guessing", () => {
  test("wrong keys beyond the 20 of an address are looked up 8 at a time", async () => {
    const { resolve, lookUp } = start(() => new Promise(() => undefined));
    for (let guess = 0; guess < 100; guess += 1) lookUp(createApiKey("test").text).catch(() => undefined);
    await settle();
    expect(resolve).toHaveBeenCalledTimes(20 + 8);
  });

  test("the oldest of more than 200 waiting guesses is RATE_001 with the limit of its address", async () => {
    const { lookUp } = start(() => new Promise(() => undefined));
    const guesses = Array.from({ length: 20 + 8 + 201 }, () => lookUp(createApiKey("test").text));
    for (const guess of guesses) guess.catch(() => undefined);
    await expect(guesses[28]).rejects.toMatchObject({
      code: "RATE_001",
      rate: { limit: 20, remaining: 0, resetSeconds: 20 },
    });
  });

  test("a new valid key is served although its address guesses a thousand keys at once", async () => {
    const release: (() => void)[] = [];
    const { resolve, lookUp } = start(
      (presented) =>
        new Promise((answer) => release.push(() => answer(key.startsWith(presented.prefix) ? FULL : NONE))),
    );
    for (let guess = 0; guess < 1_000; guess += 1) lookUp(createApiKey("test").text).catch(() => undefined);
    const good = lookUp();
    await settle();
    for (const answer of release.splice(0)) answer();
    await settle();
    for (const answer of release.splice(0)) answer();
    expect(await good).toMatchObject({ access: "full" });
    // Newest first: the good key did not wait for the guesses before it.
    expect(resolve.mock.calls.length).toBeLessThan(100);
  });

  test("a failed look-up counts as a guess", async () => {
    const { resolve, lookUp } = start(async () => {
      throw new DomainError("SYS_002");
    });
    for (let guess = 0; guess < 20; guess += 1) {
      await expect(lookUp(createApiKey("test").text)).rejects.toMatchObject({ code: "SYS_002" });
    }
    resolve.mockImplementation(() => new Promise(() => undefined));
    resolve.mockClear();
    for (let guess = 0; guess < 20; guess += 1) lookUp(createApiKey("test").text).catch(() => undefined);
    await settle();
    expect(resolve).toHaveBeenCalledTimes(8);
  });

  test("look-ups of valid keys use up no guesses", async () => {
    const { resolve, lookUp } = start(async () => FULL);
    for (let keys = 0; keys < 30; keys += 1) await lookUp(createApiKey("test").text);
    resolve.mockImplementation(() => new Promise(() => undefined));
    resolve.mockClear();
    for (let guess = 0; guess < 20; guess += 1) void lookUp(createApiKey("test").text);
    await settle();
    expect(resolve).toHaveBeenCalledTimes(20);
  });

  test("a known valid key is served to an address that guesses, also after its cache lifetime", async () => {
    const { clock, lookUp } = start(async (presented) => (key.startsWith(presented.prefix) ? FULL : NONE));
    await lookUp();
    for (let guess = 0; guess < 30; guess += 1)
      await lookUp(createApiKey("test").text).catch(() => undefined);
    clock.nowMs = 5_000;
    expect(await lookUp()).toMatchObject({ access: "full" });
  });

  test("a revoked key is refused as revoked, never as rate-limited", async () => {
    const { clock, lookUp } = start(async () => NONE);
    for (clock.nowMs = 0; clock.nowMs < 60_000; clock.nowMs += 100) {
      expect(await lookUp()).toMatchObject({ access: "none" });
    }
  });

  test("ten thousand wrong keys do not evict a valid one", async () => {
    const { clock, resolve, principals, lookUp } = start(async (presented) =>
      key.startsWith(presented.prefix) ? FULL : NONE,
    );
    await lookUp();
    for (let guess = 0; guess < 10_050; guess += 1) {
      await Promise.resolve(
        principals.lookUp(createApiKey("test").text, `10.0.${guess >> 8}.${guess & 255}`),
      );
    }
    const calls = resolve.mock.calls.length;
    clock.nowMs = 10;
    await lookUp();
    expect(resolve).toHaveBeenCalledTimes(calls);
  });
});

describe("while auth is away", () => {
  const outage = async () => {
    throw new DomainError("SYS_002");
  };

  test("a cached key works for the grace period and then answers SYS_002 with retryAfterMs", async () => {
    const { clock, resolve, lookUp } = start(async () => FULL, 60_000);
    await lookUp();
    resolve.mockImplementation(outage);
    for (clock.nowMs = 1_000; clock.nowMs <= 60_000; clock.nowMs += 100) {
      expect(await lookUp()).toMatchObject({ access: "full" });
    }
    clock.nowMs = 62_000;
    await expect(lookUp()).rejects.toMatchObject({ code: "SYS_002", details: { retryAfterMs: 1000 } });
  });

  test("a grace period of 0 serves no key beyond its second", async () => {
    const { clock, resolve, lookUp } = start(async () => FULL, 0);
    await lookUp();
    resolve.mockImplementation(outage);
    clock.nowMs = 1_000;
    await expect(lookUp()).rejects.toMatchObject({ code: "SYS_002" });
  });

  test("an unknown key answers SYS_002, not WAUTH_001", async () => {
    const { lookUp } = start(outage);
    await expect(lookUp()).rejects.toMatchObject({ code: "SYS_002" });
  });

  test.each(["SYS_001", "SYS_002", "SYS_003"] as const)(
    "a look-up that ends with %s is SYS_002 with a time to wait for everybody who waits for it",
    async (code) => {
      const { resolve, lookUp } = start(async () => {
        throw new DomainError(code);
      });
      const outcomes = await Promise.allSettled([lookUp(), lookUp(), lookUp()]);
      const refusal = { code: "SYS_002", details: { retryAfterMs: 1000 } };
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: refusal });
      expect(resolve).toHaveBeenCalledTimes(1);
    },
  );

  test("keys and subscriptions still expire on time", async () => {
    const soon = { ...principal, subscriptionEndsAt: new Date(20_000), keyUsableUntil: new Date(40_000) };
    const { clock, resolve, lookUp } = start(async () => ({ ...FULL, principal: soon }));
    await lookUp();
    resolve.mockImplementation(outage);
    clock.nowMs = 19_000;
    expect(await lookUp()).toMatchObject({ access: "full" });
    clock.nowMs = 21_000;
    expect(await lookUp()).toMatchObject({ access: "session", refusal: { code: "WAUTH_003" } });
    clock.nowMs = 41_000;
    expect(await lookUp()).toMatchObject({ access: "refresh", refusal: { code: "WAUTH_002" } });
  });

  test("a key whose organisation changed before the outage is not served from memory", async () => {
    const { resolve, principals, lookUp } = start(async () => FULL);
    await lookUp();
    principals.forgetOrganisation("org_1");
    resolve.mockImplementation(outage);
    await expect(lookUp()).rejects.toMatchObject({ code: "SYS_002" });
  });

  test("a key that is revoked during its look-up is not served from memory", async () => {
    const { clock, resolve, principals, lookUp } = start(async () => FULL);
    await lookUp();
    let fail: (error: DomainError) => void = () => undefined;
    resolve.mockImplementation(() => new Promise((_, reject) => (fail = reject)));
    clock.nowMs = 1_000;
    const asked = lookUp();
    principals.forgetKey("key_1");
    fail(new DomainError("SYS_002"));
    await expect(asked).rejects.toMatchObject({ code: "SYS_002" });
  });

  test("auth is retried throughout, and its first answer applies at once", async () => {
    const { clock, resolve, lookUp } = start(async () => FULL);
    await lookUp();
    resolve.mockImplementation(outage);
    clock.nowMs = 5_000;
    await lookUp();
    resolve.mockImplementation(async () => NONE);
    clock.nowMs = 5_300;
    await lookUp();
    await settle();
    expect(await lookUp()).toMatchObject({ access: "none" });
  });
});
