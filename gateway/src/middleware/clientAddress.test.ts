import { type IncomingMessage } from "node:http";
import { clientAddress } from "./clientAddress";

function request(headers: Record<string, string>) {
  return { headers, socket: { remoteAddress: "203.0.113.9" } } as unknown as IncomingMessage;
}

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
