import { type IncomingMessage } from "node:http";
import { DomainError } from "@wonrail/kit/contract/errors";
import { idempotencyKey } from "./idempotencyKey";

function request(headers: Record<string, string>, rawHeaders: string[] = []) {
  return { headers, rawHeaders } as unknown as IncomingMessage;
}

describe("an Idempotency-Key", () => {
  test("is accepted unchanged", () => {
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
