import { decodeEvent } from "./events";

const headers = {
  event_id: `evt_${"0".repeat(32)}`,
  event_type: "key_revoked",
  aggregate_id: "key_1",
  version: "3",
  occurred_at: "2026-01-02T03:04:05.678Z",
  org_id: "org_1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  request_id: "req_1",
};
const decode = (changed: Record<string, string>) =>
  decodeEvent({ topic: "wonrail.auth.v1", value: Buffer.from("x"), headers: { ...headers, ...changed } });

describe("decodeEvent", () => {
  it("reads the envelope from the headers", () => {
    expect(decode({})).toEqual({
      id: headers.event_id,
      type: "key_revoked",
      topic: "wonrail.auth.v1",
      aggregateId: "key_1",
      version: 3n,
      occurredAt: new Date("2026-01-02T03:04:05.678Z"),
      orgId: "org_1",
      traceparent: headers.traceparent,
      requestId: "req_1",
      payload: Buffer.from("x"),
    });
  });

  it.each([
    ["event_id", ""],
    ["event_id", "evt_1"],
    ["event_id", "key_00000000000000000000000000000000"],
    ["event_type", "Key Revoked"],
    ["aggregate_id", ""],
    ["version", "-1"],
    ["version", "1e3"],
    ["version", "9".repeat(30)],
    ["occurred_at", "yesterday"],
  ])("refuses a malformed %s: %p", (name, value) => {
    expect(() => decode({ [name]: value })).toThrow(`the header ${name} is absent or malformed`);
  });

  it("accepts an event without request context", () => {
    const { org_id: _org, traceparent: _trace, request_id: _request, ...needed } = headers;
    expect(decodeEvent({ topic: "t", value: Buffer.alloc(0), headers: needed })).toMatchObject({
      orgId: "",
      requestId: "",
    });
  });
});
