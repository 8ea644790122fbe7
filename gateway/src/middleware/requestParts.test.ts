import { type IncomingMessage } from "node:http";
import { DomainError } from "@wonrail/kit/errors";
import { clientAddress } from "./clientAddress";
import { idempotencyKey } from "./idempotency";
import { parseQuery } from "./query";

function request(headers: Record<string, string>, rawHeaders: string[] = [], remoteAddress = "203.0.113.9") {
  return { headers, rawHeaders, socket: { remoteAddress } } as unknown as IncomingMessage;
}

describe("a query", () => {
  test("is decoded once", () => {
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

  test("__proto__ is a name like any other", () => {
    const query = parseQuery("/x?__proto__=1");
    expect(Object.keys(query)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("an Idempotency-Key", () => {
  test("is taken as it is", () => {
    expect(idempotencyKey(request({ "idempotency-key": "order 1, second try" }))).toBe("order 1, second try");
    expect(idempotencyKey(request({}))).toBeUndefined();
  });

  test.each(["", "x".repeat(256), "ключ", "a\u007f"])("%j is refused", (key) => {
    expect(() => idempotencyKey(request({ "idempotency-key": key }))).toThrow(DomainError);
  });

  test("given twice is refused", () => {
    const twice = request({ "idempotency-key": "a, b" }, ["Idempotency-Key", "a", "idempotency-key", "b"]);
    expect(() => idempotencyKey(twice)).toThrow(DomainError);
  });
});

describe("a caller's address", () => {
  const forwarded = { "x-forwarded-for": "1.1.1.1, 2.2.2.2, 3.3.3.3" };

  test.each([
    [0, "203.0.113.9"],
    [1, "3.3.3.3"],
    [2, "2.2.2.2"],
    [3, "1.1.1.1"],
    [4, "203.0.113.9"],
  ])("behind %i proxies of ours", (hops, address) => {
    expect(clientAddress(request(forwarded), hops)).toBe(address);
  });

  test("that is no address is not believed", () => {
    expect(clientAddress(request({ "x-forwarded-for": "<script>" }), 1)).toBe("203.0.113.9");
  });
});
