import { Metadata } from "@grpc/grpc-js";
import { childTraceparent, runInContext } from "../context";
import { newId } from "../contract/ids";
import {
  contextFromItem,
  contextFromMetadata,
  contextOfCaller,
  isRequestId,
  metadataFromContext,
  toItemContext,
} from "./requestContext";

const context = {
  requestId: "req-1",
  traceparent: childTraceparent(),
  orgId: newId("org"),
  deadlineMs: 5000,
};

test("a request id is printable, bounded and starts with a letter or a digit", () => {
  for (const id of ["a", "req_0190", "trace:1.2-3", "x".repeat(128)]) expect(isRequestId(id)).toBe(true);
  for (const id of ["", "x".repeat(129), "has space", "new\nline", "-dash", "ü", 'quo"te', 7, undefined]) {
    expect(isRequestId(id)).toBe(false);
  }
});

test("a context survives metadata, with gRPC's deadline", () => {
  const { requestId, orgId, deadlineMs } = contextFromMetadata(metadataFromContext(context), 7000);
  expect({ requestId, orgId, deadlineMs }).toEqual({
    requestId: "req-1",
    orgId: context.orgId,
    deadlineMs: 7000,
  });
});

test.each([
  ["is too long", "x".repeat(100_000)],
  ["is beyond ASCII", "주문 7"],
  ["has two lines", "two\nlines"],
])("a context that %s is not sent", (_why, text) => {
  const forged = { requestId: text, traceparent: text, orgId: text };
  expect(metadataFromContext(forged).getMap()).toEqual({});
});

test("a call without metadata and deadline gets a context", () => {
  const made = contextFromMetadata(new Metadata(), Infinity);
  expect(made.requestId).toMatch(/^req_/);
  expect(made.traceparent).toMatch(/^00-/);
  expect("orgId" in made || "deadlineMs" in made).toBe(false);
});

test("an item's context survives its message", () => {
  const item = toItemContext(context, 6000);
  expect(item.deadline).toEqual(new Date(6000));
  expect(contextFromItem(item, 6500)).toMatchObject({
    requestId: "req-1",
    orgId: context.orgId,
    deadlineMs: 6500,
  });
  expect(contextFromItem(undefined, 6500).requestId).toMatch(/^req_/);
});

test("work inside a request keeps its context, and other work gets a new one", () => {
  expect(runInContext(context, contextOfCaller)).toBe(context);
  expect(contextOfCaller().requestId).not.toBe(contextOfCaller().requestId);
});
