import { distinctHits, hitPath } from "./hitPaths";

const hit = (kind: string, id: string, orgId = "org_1") => ({ kind, id, orgId, title: "" });

test.each([
  ["organisation", "org_1", { to: "/organisations/$org", params: { org: "org_1" } }],
  ["wallet", "wal_1", { to: "/wallets/$walletId", params: { walletId: "wal_1" } }],
  ["entry", "pay_1", { to: "/operations/$ref", params: { ref: "pay_1" } }],
  ["record", "txn_1", { to: "/operations/$ref", params: { ref: "txn_1" } }],
  ["webhook", "whk_1", { to: "/organisations/$org", params: { org: "org_1" } }],
  ["transaction", "0xab", undefined],
])("a found %s leads to its screen", (kind, id, path) => {
  expect(hitPath(hit(kind, id))).toEqual(path);
});

test("the same wallet found by two services is shown once", () => {
  const hits = [
    hit("wallet", "wal_1"),
    hit("entry", "pay_1"),
    hit("wallet", "wal_1"),
    hit("wallet", "wal_2"),
  ];
  expect(distinctHits(hits).map(({ id }) => id)).toEqual(["wal_1", "pay_1", "wal_2"]);
});

test("two keys of one organisation are both shown", () => {
  expect(distinctHits([hit("api_key", "key_1"), hit("api_key", "key_2")])).toHaveLength(2);
});
