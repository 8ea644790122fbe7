import { newId } from "@wonrail/kit/contract/ids";
import type { Outcome } from "../domain/types";
import { createPostedLate } from "./postedLate";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const MINUTE_MS = 60_000;
const orgId = newId("org");

function postedFor(ageMs: number): Outcome {
  const entry = { orgId, requestId: newId("trf", NOW_MS - ageMs) };
  return { status: "posted", entry } as Outcome;
}
const hexOf = (outcome: Outcome) =>
  outcome.status === "posted" ? outcome.entry.requestId.slice(4) : undefined;
const waiting = (late: ReturnType<typeof createPostedLate>) =>
  late.waiting().map(({ entryId }) => entryId.replaceAll("-", ""));

test("remembers what was posted under an old id, until it is verified, and no refusal", () => {
  const late = createPostedLate(10, () => NOW_MS);
  const [young, old, older] = [postedFor(3 * MINUTE_MS), postedFor(5 * MINUTE_MS), postedFor(60 * MINUTE_MS)];
  late.remember([young, { status: "refused", code: "TRF_001", details: null }, old, older]);
  expect(waiting(late)).toEqual([hexOf(old), hexOf(older)]);
  late.verified(late.waiting().slice(0, 1));
  expect(waiting(late)).toEqual([hexOf(older)]);
});

test("says once how many there was no room for", () => {
  const late = createPostedLate(1, () => NOW_MS);
  const [first, ...others] = Array.from({ length: 3 }, () => postedFor(5 * MINUTE_MS));
  late.remember([first!, ...others]);
  expect(waiting(late)).toEqual([hexOf(first!)]);
  expect([late.takeLost(), late.takeLost()]).toEqual([2, 0]);
});
