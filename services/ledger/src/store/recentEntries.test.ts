import { newId } from "@wonrail/kit/contract/ids";
import type { Entry } from "../domain/types";
import { createRecentEntries } from "./recentEntries";

const orgId = newId("org");
const entries = (count: number) =>
  Array.from({ length: count }, () => ({ orgId, requestId: newId("pay") }) as Entry);

test("gives each once, to its organisation, under its id with any prefix", () => {
  const recent = createRecentEntries(10);
  const [one, other] = entries(2);
  recent.remember([one!, other!]);
  expect(recent.take(newId("org"), one!.requestId)).toBeUndefined();
  expect(recent.take(orgId, one!.requestId.replace("pay", "trf"))).toBe(one);
  expect(recent.take(orgId, one!.requestId)).toBeUndefined();
  expect(recent.take(orgId, other!.requestId)).toBe(other);
  recent.remember([one!]);
  expect(recent.take(orgId, one!.requestId)).toBe(one);
});

test("keeps the last half of what it may hold at least, and never more than it may", () => {
  const recent = createRecentEntries(10);
  const all = entries(101);
  recent.remember(all);
  const kept = all.filter(({ requestId }) => recent.take(orgId, requestId));
  expect(kept).toEqual(all.slice(-kept.length));
  expect(kept.length).toBeGreaterThanOrEqual(5);
  expect(kept.length).toBeLessThanOrEqual(10);
});

test("forgets all", () => {
  const recent = createRecentEntries(10);
  const all = entries(8);
  recent.remember(all);
  recent.forgetAll();
  expect(all.filter(({ requestId }) => recent.take(orgId, requestId))).toEqual([]);
});
