import {
  idAt,
  derivedId,
  hexOf,
  idTimeMs,
  idToUuid,
  isId,
  joinId,
  newId,
  prefixOf,
  siblingId,
  uuidToId,
} from "./ids";

test("ids sort by their creation time and contain it", () => {
  const early = newId("trf", 1_700_000_000_000);
  const late = newId("trf", 1_700_000_000_001);
  expect(early < late).toBe(true);
  expect(idTimeMs(early)).toBe(1_700_000_000_000);
});

test("ten thousand ids of one millisecond are distinct and well formed", () => {
  const ids = new Set(Array.from({ length: 10_000 }, () => newId("wal", 0)));
  expect(ids.size).toBe(10_000);
  for (const id of ids) expect(id).toMatch(/^wal_0{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  // Each digit behind the version is as random as it can be.
  const digits = Array.from({ length: 19 }, (_, at) => new Set([...ids].map((id) => id[17 + at])).size);
  expect(digits).toEqual(digits.map((_, at) => (at === 3 ? 4 : 16)));
  expect([...ids].filter((id) => id.slice(17, 20) === id.slice(21, 24)).length).toBeLessThan(100);
});

test("an id survives a round trip as a uuid", () => {
  const id = newId("pay");
  expect(uuidToId("pay", idToUuid(id))).toBe(id);
  expect(idToUuid(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("an id is rebuilt from its parts", () => {
  const id = newId("trf");
  expect([prefixOf(id), hexOf(id)]).toEqual(["trf", idToUuid(id).replaceAll("-", "")]);
  expect(joinId("trf", hexOf(id))).toBe(id);
  expect(joinId("trf", idToUuid(id))).toBe(id);
});

test("a derived id is the same for the same parts and differs when a part boundary moves", () => {
  expect(derivedId("opn", "a", "bc")).toBe(derivedId("opn", "a", "bc"));
  expect(derivedId("opn", "a", "bc")).not.toBe(derivedId("opn", "ab", "c"));
  expect(isId("opn", derivedId("opn", "x"))).toBe(true);
});

test.each([
  "",
  "wal_",
  "wal_xyz",
  "trf_" + "0".repeat(32),
  "wal_" + "0".repeat(31),
  "wal_" + "A".repeat(32),
  7,
  null,
])("%p is an invalid wallet id", (text) => {
  expect(isId("wal", text)).toBe(false);
});

test("idAt derives the same id from the same time and name", () => {
  const id = idAt("trf", 1_700_000_000_000, "rent");
  expect(id).toBe(idAt("trf", 1_700_000_000_000, "rent"));
  expect(id).not.toBe(idAt("trf", 1_700_000_000_000, "wages"));
  expect([isId("trf", id), idTimeMs(id)]).toEqual([true, 1_700_000_000_000]);
});

test("a sibling id has the same time, is always the same, and differs by purpose", () => {
  const id = newId("trf");
  expect(siblingId("req", id, "post")).toBe(siblingId("req", id, "post"));
  expect(siblingId("req", id, "post")).not.toBe(siblingId("req", id, "void"));
  expect(idTimeMs(siblingId("req", id, "post"))).toBe(idTimeMs(id));
});
