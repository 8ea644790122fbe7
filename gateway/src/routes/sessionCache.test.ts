import { DomainError } from "@wonrail/kit/contract/errors";
import { createSessionCache } from "./sessionCache";

function start() {
  const clock = { nowMs: 0 };
  const ask = jest.fn(async (orgId: string, keyId: string) => `${orgId} ${keyId} at ${clock.nowMs}`);
  return { clock, ask, session: createSessionCache({ ask, monotonicMs: () => clock.nowMs }) };
}

test("2,000 requests of a key within a second cause one call, and the next second another one", async () => {
  const { clock, ask, session } = start();
  const answers = await Promise.all(Array.from({ length: 2_000 }, () => session("org_1", "key_1")));
  expect(new Set(answers)).toEqual(new Set(["org_1 key_1 at 0"]));
  clock.nowMs = 999;
  expect(await session("org_1", "key_1")).toBe("org_1 key_1 at 0");
  clock.nowMs = 1_000;
  expect(await session("org_1", "key_1")).toBe("org_1 key_1 at 1000");
  expect(ask).toHaveBeenCalledTimes(2);
});

test("a failure is not cached", async () => {
  const { ask, session } = start();
  ask.mockRejectedValueOnce(new DomainError("SYS_002"));
  await expect(session("org_1", "key_1")).rejects.toMatchObject({ code: "SYS_002" });
  expect(await session("org_1", "key_1")).toBe("org_1 key_1 at 0");
});

test("at most 16 calls run at once", async () => {
  const { ask, session } = start();
  ask.mockImplementation(() => new Promise(() => undefined));
  const waiting = Array.from({ length: 17 }, (_, index) => session("org_1", `key_${index}`));
  await expect(waiting[16]).rejects.toMatchObject({ code: "SYS_002", details: { retryAfterMs: 1000 } });
  expect(ask).toHaveBeenCalledTimes(16);
});
