import fc from "fast-check";
import { newId } from "@wonrail/kit/contract/ids";
import { makeGrant } from "./grants";
import {
  decideRefresh,
  isUsable,
  newKey,
  standingOf,
  statusOf,
  supersede,
  usableUntil,
  type ApiKey,
} from "./keys";
import { makeOrganisation } from "./organisations";

const issuedAt = new Date("2025-11-01T00:00:00Z");
const expiresAt = new Date("2025-12-01T00:00:00Z");
const now = new Date("2025-11-21T00:00:00Z");
const organisation = makeOrganisation(newId("org"), { name: "First", code: "FIRST" }, issuedAt);

describe("standingOf", () => {
  test("allows everything for at most a second without another check", () => {
    expect(standingOf(key(), organisation, now)).toEqual({
      access: "FULL",
      refusal: null,
      cacheableMs: 1_000,
    });
  });

  test("allows everything for no longer than the key or the subscription lasts", () => {
    expect(standingOf(key(), organisation, before(expiresAt, 300)).cacheableMs).toBe(300);
    const ending = { ...organisation, subscriptionEndsAt: after(now, 200) };
    expect(standingOf(key(), ending, now).cacheableMs).toBe(200);
    const starting = { ...organisation, subscriptionStartsAt: after(now, 100) };
    expect(standingOf(key(), starting, now)).toMatchObject({ access: "SESSION", cacheableMs: 100 });
  });

  test("holds for as long as it may be cached", () => {
    const offset = fc.integer({ min: -4, max: 4 }).map((steps) => after(now, steps * 300));
    const status = fc.constantFrom("ACTIVE" as const, "SUSPENDED" as const);
    fc.assert(
      fc.property(
        offset,
        offset,
        offset,
        status,
        (subscriptionStartsAt, subscriptionEndsAt, expiresAt, status) => {
          const terms = { ...organisation, subscriptionStartsAt, subscriptionEndsAt, status };
          const { cacheableMs, ...standing } = standingOf(key({ expiresAt }), terms, now);
          expect(cacheableMs).toBeGreaterThanOrEqual(300);
          expect(cacheableMs).toBeLessThanOrEqual(1_000);
          const last = standingOf(key({ expiresAt }), terms, after(now, cacheableMs - 1));
          expect(last).toMatchObject(standing);
        },
      ),
    );
  });

  test("allows only a refresh from its expiry on, with or without subscription", () => {
    const expired = { access: "REFRESH", refusal: "WAUTH_002", cacheableMs: 1_000 };
    expect(standingOf(key(), organisation, expiresAt)).toEqual(expired);
    expect(standingOf(key(), { ...organisation, status: "SUSPENDED" }, expiresAt)).toEqual(expired);
  });

  test("allows refresh and session while the subscription is not active", () => {
    const ended = { ...organisation, subscriptionEndsAt: now };
    expect(standingOf(key(), ended, now)).toMatchObject({ access: "SESSION", refusal: "WAUTH_003" });
  });

  test("gives no access to a revoked key", () => {
    expect(standingOf(key({ revokedAt: issuedAt }), organisation, now)).toMatchObject({
      access: "NONE",
      refusal: "WAUTH_001",
    });
  });
});

describe("the overlap", () => {
  test("is as long as configured", () => {
    expect(usableUntil(supersede(key(), now, 600_000))).toEqual(after(now, 600_000));
  });

  test("never reaches past the key's own expiry", () => {
    expect(usableUntil(supersede(key(), before(expiresAt, 1_000), 600_000))).toEqual(expiresAt);
    expect(usableUntil(supersede(key(), after(expiresAt, 5_000), 600_000))).toEqual(expiresAt);
  });
});

describe("decideRefresh", () => {
  const current = key();
  const older = key({ supersededAt: issuedAt, overlapEndsAt: issuedAt });

  test("issues a new key for the current key, also when it has expired", () => {
    const times = [now, after(expiresAt, 1)];
    const facts = { presented: current, current, canBeGivenAgain: true };
    expect(times.map((now) => decideRefresh({ ...facts, now }))).toEqual(["issue", "issue"]);
  });

  test("returns the current key for an older key", () => {
    expect(decideRefresh({ presented: older, current, canBeGivenAgain: true, now })).toBe("again");
  });

  test("issues a new key for an older key when the current key cannot be derived or has expired", () => {
    expect(decideRefresh({ presented: older, current, canBeGivenAgain: false, now })).toBe("issue");
    expect(decideRefresh({ presented: older, current, canBeGivenAgain: true, now: expiresAt })).toBe("issue");
  });

  test("issues a new key for an older key when the current key was revoked", () => {
    expect(decideRefresh({ presented: older, current: null, canBeGivenAgain: true, now })).toBe("issue");
  });

  test("refuses a revoked key in every case", () => {
    const revoked = key({ revokedAt: issuedAt });
    expect(decideRefresh({ presented: revoked, current, canBeGivenAgain: true, now })).toBe("refuse");
    expect(decideRefresh({ presented: revoked, current: null, canBeGivenAgain: false, now })).toBe("refuse");
  });
});

test("a key is current, then in its overlap, then expired, and a revocation ends it at once", () => {
  const old = supersede(key(), now, 60_000);
  expect(old).toMatchObject({ version: 2n, supersededAt: now });
  expect([statusOf(key(), now), statusOf(old, now), statusOf(old, after(now, 60_000))]).toEqual([
    ...["CURRENT", "OVERLAP", "EXPIRED"],
  ]);
  expect([
    isUsable(key(), now),
    isUsable(old, after(now, 59_999)),
    isUsable(old, after(now, 60_000)),
  ]).toEqual([...[true, true, false]]);
  expect(statusOf(key({ revokedAt: now }), now)).toBe("REVOKED");
  expect(isUsable(key({ revokedAt: now }), now)).toBe(false);
});

test("a session before the start of the subscription is cached for a second at most", () => {
  const starting = { ...organisation, subscriptionStartsAt: after(now, 5_000) };
  expect(standingOf(key(), starting, now)).toEqual({
    ...{ access: "SESSION", refusal: "WAUTH_003", cacheableMs: 1_000 },
  });
});

function key(changes: Partial<ApiKey> = {}): ApiKey {
  const { orgId } = organisation;
  const made = { prefix: "wk_test_000000000000", hash: Buffer.alloc(32) };
  const grant = makeGrant({});
  return { ...newKey({ orgId, keyId: newId("key"), made, grant, issuedAt, expiresAt }), ...changes };
}

function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

function before(date: Date, ms: number): Date {
  return after(date, -ms);
}
