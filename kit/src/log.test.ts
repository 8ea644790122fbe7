import { runInContext } from "./context";
import { createLog } from "./log";

function capture(work: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLog({ service: "test", destination: { write: (line: string) => void lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("writes the request's id, trace and organisation on every line", () => {
  const context = {
    requestId: "req_1",
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    orgId: "org_1",
  };
  const [line] = capture((log) => runInContext(context, () => log.info("hello")));
  expect(line).toMatchObject({
    service: "test",
    level: "info",
    requestId: "req_1",
    traceId: "a".repeat(32),
    orgId: "org_1",
  });
});

test("hides secrets at any depth", () => {
  const secrets = {
    apiKey: "CANARY",
    headers: { "x-api-key": "CANARY", authorization: "CANARY" },
    body: { auth: { secretKey: "CANARY" } },
  };
  expect(JSON.stringify(capture((log) => log.info(secrets, "request")))).not.toContain("CANARY");
});

test.each(["a\r\nfake", "\u001b[31mred", "\0", "\ud800"])(
  "writes one JSON object for the input %j",
  (text) => {
    expect(capture((log) => log.info({ text }, text))).toHaveLength(1);
  },
);

test("a silent log starts no timer", () => {
  jest.useFakeTimers();
  createLog({ service: "test", level: "silent" });
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});
