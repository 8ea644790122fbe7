import { DomainError } from "./contract/errors";
import { cutPage, readPage as read } from "./page";

const readPage = (request: Parameters<typeof read>[0]) => read(request, (key) => /^[a-z]$/.test(key));

test("a request without limit gets the first twenty rows", () => {
  expect(readPage(undefined)).toEqual({ limit: 20, offset: 0, after: null });
});

test("a page number becomes an offset, up to the ten thousandth row", () => {
  expect(readPage({ limit: 100, position: { $case: "currentPage", value: 100 } })).toEqual({
    limit: 100,
    offset: 9_900,
    after: null,
  });
  expect(() => readPage({ limit: 100, position: { $case: "currentPage", value: 101 } })).toThrow(DomainError);
});

test("a page has at most a hundred rows", () => {
  expect(readPage({ limit: 100 }).limit).toBe(100);
  expect(() => readPage({ limit: 101 })).toThrow(DomainError);
});

test("a cursor leads to the row after the last shown one", () => {
  const page = readPage({ limit: 2 });
  const { items, info } = cutPage(["c", "b", "a"], page, (row) => row, 3);
  expect(items).toEqual(["c", "b"]);
  expect(info).toMatchObject({ hasNext: true, totalCount: 3 });
  expect(readPage({ limit: 2, position: { $case: "cursor", value: info.nextCursor! } }).after).toBe("b");
});

test("the last page has no next cursor, and a long list has no count", () => {
  const { info } = cutPage(["a"], readPage({ limit: 2 }), (row) => row, 10_001);
  expect(info).toEqual({ hasNext: false, nextCursor: undefined, totalCount: undefined });
});

test.each(["", "%%%", "AA", Buffer.from("a b").toString("base64url"), "YQ==", "YWI", "OQ"])(
  "refuses the cursor %p, which is none or another list's",
  (cursor) => {
    expect(() => readPage({ limit: 2, position: { $case: "cursor", value: cursor } })).toThrow(DomainError);
  },
);
