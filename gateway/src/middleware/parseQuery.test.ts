import { DomainError } from "@wonrail/kit/contract/errors";
import { parseQuery } from "./parseQuery";

describe("a query", () => {
  test("is decoded exactly once", () => {
    expect({ ...parseQuery("/x?a=1%202+3&b=&c&d=%EC%9B%90&e=%2541") }).toEqual({
      a: "1 2 3",
      b: "",
      c: "",
      d: "원",
      e: "%41",
    });
  });

  test.each(["/x", "/x?", "/x?&&"])("%s has no parameters", (url) => {
    expect({ ...parseQuery(url) }).toEqual({});
  });

  test.each([
    "/x?a=1&a=2",
    "/x?%61=1&a=2",
    "/x?a=%zz",
    "/x?a=%C0%80",
    "/x?a=%00",
    "/x?a=%ED%A0%80",
    `/x?${"a=1&".repeat(40)}`,
  ])("%s is refused", (url) => {
    expect(() => parseQuery(url)).toThrow(DomainError);
  });

  test("__proto__ is an ordinary name", () => {
    const query = parseQuery("/x?__proto__=1");
    expect(Object.keys(query)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
