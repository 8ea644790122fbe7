import { checkObserved } from "./observed";

const SOUND = { forgedDeliveries: [], verification: "12 entries, 0 violations" };

test("deliveries with valid signatures and a verification without violations pass", () => {
  expect(checkObserved(SOUND)).toEqual([]);
  expect(checkObserved({ ...SOUND, verification: null })).toEqual([]);
});

test("a refused signature and a violation of the ledger's rules are found", () => {
  const found = checkObserved({
    forgedDeliveries: ["whk_1: old"],
    verification: "12 entries, 10 violations",
  });
  expect(found.map(({ check }) => check)).toEqual(["signatures", "verification"]);
});
