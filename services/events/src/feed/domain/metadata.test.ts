import { metadataChange } from "./metadata";

const source = { orgId: "org_1", sourceId: "evt_1", occurredAt: new Date(0) };
const charge = {
  data: {
    ...{ chargeId: "chg_1", settlement: {}, metadata: { till: "3" } },
    cancellations: [{ cancelId: "ccl_1", settlement: {}, metadata: {} }],
  },
  failureReason: "blocked",
};
const change = (partId: string) =>
  metadataChange(source, { objectId: "chg_1", partId, metadata: { till: "5" } });

test("changed metadata has no event and is in the changed part only", () => {
  expect(change("chg_1")).toMatchObject({ ...source, objectId: "chg_1", types: [] });
  expect(change("chg_1").apply(charge)).toEqual({
    ...charge,
    data: { ...charge.data, metadata: { till: "5" } },
  });
  expect(change("ccl_1").apply(charge)).toEqual({
    ...charge,
    data: { ...charge.data, cancellations: [{ cancelId: "ccl_1", settlement: {}, metadata: { till: "5" } }] },
  });
  expect(charge.data.metadata).toEqual({ till: "3" });
});

test("metadata of an unknown object or part changes nothing", () => {
  expect(change("chg_1").apply(undefined)).toBeUndefined();
  expect(change("chg_2").apply(charge)).toEqual(charge);
});
