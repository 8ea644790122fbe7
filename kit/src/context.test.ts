import { childTraceparent, currentContext, runInContext, traceIdOf } from "./context";

test("a child stays in its parent's trace", () => {
  const parent = childTraceparent();
  const child = childTraceparent(parent);
  expect(traceIdOf(child)).toBe(traceIdOf(parent));
  expect(child).not.toBe(parent);
});

test.each([
  "",
  "garbage",
  `01-${"a".repeat(32)}-${"b".repeat(16)}-01`,
  `00-${"A".repeat(32)}-${"b".repeat(16)}-01`,
])("a malformed parent %p starts a new trace", (parent) => {
  expect(childTraceparent(parent)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

test("the context lasts across awaits and ends with its work", async () => {
  const context = { requestId: "req_1", traceparent: childTraceparent() };
  await runInContext(context, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    expect(currentContext()).toBe(context);
  });
  expect(currentContext()).toBeUndefined();
});
