import { isId } from "@wonrail/kit/contract/ids";
import { idOf, OPERATION, ORGANISATION, placeOf, type Size, WALLET } from "./numbered";

const size: Size = { organisations: 5, operations: 1_000, sinceMs: Date.UTC(2026, 10, 1) };

test("ids are valid, distinct and in the order of their numbers", () => {
  for (const kind of [ORGANISATION, WALLET, OPERATION]) {
    const ids = Array.from({ length: kind.count(size) }, (_, number) => idOf(kind, number, size));
    expect(ids.filter((id) => !isId(kind.prefix, id))).toEqual([]);
    expect(ids).toEqual([...new Set(ids)].sort());
  }
});

test("each organisation numbers its operations without a gap, and the largest one has a tenth of all", () => {
  const places = new Map<number, number[]>();
  for (let number = 0; number < size.operations; number++) {
    const { organisation, place } = placeOf(number, size);
    places.set(organisation, [...(places.get(organisation) ?? []), place]);
  }
  expect([...places.keys()].sort()).toEqual([0, 1, 2, 3, 4]);
  for (const found of places.values()) expect(found).toEqual(found.map((_, index) => index));
  expect(places.get(0)).toHaveLength(100);
});
