import { newId } from "@wonrail/kit/contract/ids";
import {
  brokenLink,
  EMPTY_CHAIN,
  nextAuditEntry,
  sameEnd,
  type AuditEntry,
  type AuditFacts,
} from "./auditEntries";

const orgId = newId("org");
const facts: AuditFacts = {
  occurredAt: new Date("2025-11-21T00:00:00Z"),
  actor: "operator:kim",
  action: "key_issued",
  subject: "wk_test_abc",
  details: "{}",
  requestId: "req_1",
};
const first = nextAuditEntry(orgId, EMPTY_CHAIN, facts);
const second = nextAuditEntry(orgId, first, { ...facts, action: "key_revoked" });

test("each entry contains the hash of its predecessor", () => {
  expect(brokenLink(EMPTY_CHAIN, first)).toBeNull();
  expect(brokenLink(first, second)).toBeNull();
});

test.each<[string, Partial<AuditEntry>]>([
  ["organisation", { orgId: newId("org") }],
  ["time", { occurredAt: new Date("2025-11-21T00:00:00.001Z") }],
  ["actor", { actor: "operator:lee" }],
  ["action", { action: "key_refreshed" }],
  ["subject", { subject: "wk_test_abd" }],
  ["details", { details: "{ }" }],
  ["request", { requestId: "req_2" }],
])("a changed %s is detected", (_name, change) => {
  expect(brokenLink(first, { ...second, ...change })).toBe("its contents were changed");
});

test("text moved from one field to the next is detected", () => {
  const moved = { ...second, actor: "operator:ki", action: `m${second.action}` };
  expect(brokenLink(first, moved)).toBe("its contents were changed");
});

test("missing and foreign entries are detected", () => {
  expect(brokenLink(EMPTY_CHAIN, second)).toBe("entry 1 is missing");
  const elsewhere = nextAuditEntry(orgId, { sequence: 1n, hash: Buffer.alloc(32, 9) }, facts);
  expect(brokenLink(first, elsewhere)).toBe("it does not follow the entry before it");
});

test("two chains end alike when their last entries have the same number and hash", () => {
  expect(sameEnd(second, { ...second })).toBe(true);
  expect(sameEnd(second, { ...second, sequence: 3n })).toBe(false);
  expect(sameEnd(second, { ...second, hash: first.hash })).toBe(false);
});
