import { type IncomingMessage } from "node:http";
import { createLog } from "./log";
import { createClientAddress } from "./clientAddress";

function start(trustedProxyHops: number) {
  const lines: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
  const addressOf = createClientAddress({ trustedProxyHops, log });
  const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
    addressOf({ headers, socket: { remoteAddress } } as unknown as IncomingMessage);
  return { lines, from };
}

const forwarded = { "x-forwarded-for": "1.1.1.1, 2.2.2.2, 3.3.3.3" };

describe("a caller's address", () => {
  test.each([
    [0, "203.0.113.9"],
    [1, "3.3.3.3"],
    [2, "2.2.2.2"],
    [3, "1.1.1.1"],
    [4, "203.0.113.9"],
  ])("behind %i trusted proxies", (hops, address) => {
    expect(start(hops).from("203.0.113.9", forwarded)).toBe(address);
  });

  test("is the peer's when the forwarded entry is no address", () => {
    expect(start(1).from("203.0.113.9", { "x-forwarded-for": "<script>" })).toBe("203.0.113.9");
  });
});

describe("the warning about a proxy that is not configured", () => {
  test.each(["10.1.2.3", "::ffff:172.20.0.4", "192.168.0.1", "127.0.0.1", "fd00::7"])(
    "is logged once at error level when %s forwards requests",
    (peer) => {
      const { lines, from } = start(0);
      from(peer);
      expect(lines).toEqual([]);
      from(peer, forwarded);
      from(peer, { forwarded: "for=1.1.1.1" });
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0]!)).toMatchObject({
        level: "error",
        msg: expect.stringContaining("TRUSTED_PROXY_HOPS"),
      });
    },
  );

  test("is not logged when the peer is a public address or the proxies are configured", () => {
    const unconfigured = start(0);
    unconfigured.from("203.0.113.9", forwarded);
    const configured = start(1);
    configured.from("10.1.2.3", forwarded);
    expect([...unconfigured.lines, ...configured.lines]).toEqual([]);
  });
});
