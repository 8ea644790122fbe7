import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { childTraceparent, currentContext, type RequestContext, runInContext, traceIdOf } from "../context";
import { DomainError } from "../contract/errors";
import { newId } from "../contract/ids";
import { eventually } from "../testing/eventually";
import { coalesce } from "./client";
import {
  closeAll,
  echoClient,
  type EchoHandlers,
  type Note,
  type NoteAnswer,
  type NoteItem,
  recordedLog,
  startEcho,
} from "./echoService.testing";
import { MAX_REQUEST_BYTES } from "./messageLimits";
import { type ServerCall, serveItems } from "./server";

afterEach(closeAll);

test("items queued behind a running call travel together, and each gets its own answer", async () => {
  const gate = newGate();
  const { send, batches } = await start(async ({ text }) => {
    if (text === "first") await gate.opened;
    return { text: text.toUpperCase() };
  });
  const texts = Array.from({ length: 50 }, (_, index) => `note ${index}`);
  const first = send({ text: "first" });
  await eventually(() => expect(batches).toHaveLength(1));
  const queued = texts.map((text) => send({ text }));
  gate.open();
  const answers = await Promise.all(queued);
  expect(answers.map(({ text }) => text)).toEqual(texts.map((text) => text.toUpperCase()));
  await first;
  expect(batches.map(({ length }) => length)).toEqual([1, 50]);
});

test("a refused item fails alone, with its own code and details", async () => {
  const { send } = await start(async ({ text }) => {
    if (text === "poor") throw new DomainError("PAY_001", { balance: 3 });
    return { text };
  });
  const results = await Promise.allSettled(["rich", "poor", "rich too"].map((text) => send({ text })));
  expect(results[0]).toMatchObject({ value: { text: "rich" } });
  expect(results[1]).toMatchObject({ reason: { code: "PAY_001", details: { balance: 3 } } });
  expect(results[2]).toMatchObject({ value: { text: "rich too" } });
});

test("an item with an internal error is SYS_001 alone, and is logged", async () => {
  const { log, lines } = recordedLog();
  const { send } = await start(
    async ({ text }) => {
      if (text === "bad") throw new TypeError("undefined is not a function");
      return { text };
    },
    { log },
  );
  const results = await Promise.allSettled(["good", "bad"].map((text) => send({ text })));
  expect(results[0]).toMatchObject({ value: { text: "good" } });
  expect(results[1]).toMatchObject({ reason: { code: "SYS_001", details: null } });
  expect(lines().filter(({ level }) => level === "error")).toHaveLength(1);
});

test("large items travel in several calls, and no message is over a limit", async () => {
  const length = fc.oneof(fc.constant(40_000), fc.constant(400_000), fc.integer({ min: 0, max: 400_000 }));
  const { send, batches } = await start(async ({ text }) => ({ text: text.slice(1) + text.slice(1) }));
  await fc.assert(
    fc.asyncProperty(fc.array(length, { maxLength: 50 }), async (lengths) => {
      batches.length = 0;
      const texts = lengths.map((length, index) => `${index}`.padEnd(length, "x"));
      const answers = await Promise.all(texts.map((text) => send({ text })));
      expect(answers.map(({ text }) => text)).toEqual(texts.map((text) => text.slice(1) + text.slice(1)));
      const sizes = batches.map((notes) => notes.reduce((sum, { text }) => sum + text.length, 0));
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
    }),
    { numRuns: 20 },
  );
});

test("request id, organisation, trace and deadline travel with the item, and each is served in its own context", async () => {
  const served = new Map<string, RequestContext>();
  const { send } = await start(async ({ text }, call) => {
    await sleep(5);
    expect(currentContext()).toBe(call.context);
    served.set(text, call.context);
    return { text };
  });
  const contexts = ["a", "b"].map((name) => ({
    requestId: `req-${name}`,
    traceparent: childTraceparent(),
    orgId: newId("org"),
    deadlineMs: Date.now() + (name === "a" ? 20_000 : 40_000),
  }));
  await Promise.all(
    contexts.map((context, index) =>
      runInContext(context, () => send({ text: "ab"[index]! }, { timeoutMs: 60_000 })),
    ),
  );
  for (const [index, sent] of contexts.entries()) {
    const context = served.get("ab"[index]!)!;
    expect(context).toMatchObject({ requestId: sent.requestId, orgId: sent.orgId });
    expect(traceIdOf(context.traceparent)).toBe(traceIdOf(sent.traceparent));
    expect(Math.abs(context.deadlineMs! - sent.deadlineMs)).toBeLessThan(10_000);
  }
});

test("an item ends at its own deadline, and the others of its call continue", async () => {
  const gate = newGate();
  const { send } = await start(async ({ text }) => {
    if (text === "slow") await gate.opened;
    return { text };
  });
  const hurried = send({ text: "hurried" }, { timeoutMs: 100 });
  const slow = send({ text: "slow" });
  await expect(hurried).rejects.toMatchObject({ code: "SYS_003" });
  gate.open();
  await expect(slow).resolves.toEqual({ text: "slow" });
});

test("a slow item delays its own call, but not the calls after it", async () => {
  const gate = newGate();
  const { send, batches } = await start(async (note) => {
    if (note.text === "slow") await gate.opened;
    return note;
  });
  const slow = send({ text: "slow" });
  await eventually(() => expect(batches).toHaveLength(1));
  await expect(send({ text: "quick" })).resolves.toEqual({ text: "quick" });
  gate.open();
  await expect(slow).resolves.toEqual({ text: "slow" });
  expect(batches).toHaveLength(2);
});

test("the next call leaves before the last one ends, when the usual duration is known", async () => {
  let [underWay, most] = [0, 0];
  const { send } = await start(async (note) => note, {
    sayAll: async ({ items }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await sleep(30);
      underWay -= 1;
      return { answers: items.map(({ note }) => ({ note })) };
    },
  });
  const caller = async () => {
    for (let calls = 0; calls < 200 && most < 2; calls += 1) {
      await send({ text: "again" });
      // Otherwise one call would answer all of them, and they would queue together again.
      await sleep(Math.random() * 10);
    }
  };
  await Promise.all([caller(), caller(), caller()]);
  expect(most).toBeGreaterThan(1);
});

test("an item whose deadline passed in the queue is not sent", async () => {
  const { send, batches } = await start(async (note) => note);
  const late = send({ text: "late" }, { timeoutMs: 5 });
  const patient = send({ text: "patient" });
  // Blocks before the queue is read, so that these deadlines have passed.
  for (const endMs = Date.now() + 5; Date.now() < endMs;);
  await expect(late).rejects.toMatchObject({ code: "SYS_003" });
  await expect(patient).resolves.toEqual({ text: "patient" });
  expect(batches.flat().map(({ text }) => text)).toEqual(["patient"]);
  const gone = { requestId: "r", traceparent: childTraceparent(), deadlineMs: Date.now() - 1 };
  await expect(runInContext(gone, () => send({ text: "nobody waits" }))).rejects.toMatchObject({
    code: "SYS_003",
  });
});

test("a failed bulk call retries its retryable items one by one, and fails the rest", async () => {
  const alone: string[] = [];
  const { send } = await start(async (note) => note, {
    sayAll: async () => {
      throw new Error("one of these items breaks the bulk handler");
    },
    say: async (note, { context }) => {
      alone.push(context.requestId);
      if (note.text === "refused") throw new DomainError("WAL_002");
      return note;
    },
  });
  const context = { requestId: "req-kept", traceparent: childTraceparent() };
  const results = await Promise.allSettled([
    runInContext(context, () => send({ text: "may repeat" }, { retry: true })),
    send({ text: "refused", requestId: "x" }, { retry: true }),
    runInContext(context, () => send({ text: "may not" })),
    send({ text: "no request id" }, { retry: true }),
  ]);
  expect(results[0]).toMatchObject({ value: { text: "may repeat" } });
  expect(results[1]).toMatchObject({ reason: { code: "WAL_002" } });
  expect(results[2]).toMatchObject({ reason: { code: "SYS_001" } });
  expect(results[3]).toMatchObject({ reason: { code: "SYS_001" } });
  expect(alone).toHaveLength(2);
  expect(alone).toContain("req-kept");
});

test("an item of a call with an unknown outcome is never reported as not executed", async () => {
  let bulk: DomainError;
  const { send } = await start(async (note) => note, {
    sayAll: async () => {
      throw bulk;
    },
    say: async () => {
      throw new DomainError("SYS_002");
    },
  });
  const codeAfter = async (code: "SYS_002" | "SYS_003") => {
    bulk = new DomainError(code);
    const [result] = await Promise.allSettled([send({ text: "", requestId: "x" }, { retry: true })]);
    return (result as { reason: DomainError }).reason.code;
  };
  expect([await codeAfter("SYS_003"), await codeAfter("SYS_002")]).toEqual(["SYS_003", "SYS_002"]);
});

test("a refusal of the whole call is returned to every item", async () => {
  let alone = 0;
  const { send } = await start(async (note) => note, {
    sayAll: async () => {
      throw new DomainError("WAUTH_003");
    },
    say: async (note) => {
      alone += 1;
      return note;
    },
  });
  await expect(send({ text: "", requestId: "x" }, { retry: true })).rejects.toMatchObject({
    code: "WAUTH_003",
  });
  expect(alone).toBe(0);
});

test("answers that do not match the items fail the call instead of reaching the wrong caller", async () => {
  const { send } = await start(async (note) => note, { sayAll: async () => ({ answers: [] }) });
  await expect(send({ text: "" })).rejects.toThrow("0 answers for 1 items");
});

test("an item is refused at once when the queue is full", async () => {
  const gate = newGate();
  const { send, batches } = await start(async (note) => {
    await gate.opened;
    return note;
  });
  const accepted = [send({ text: "in flight" })];
  await eventually(() => expect(batches).toHaveLength(1));
  for (let index = 0; index < 100; index += 1) accepted.push(send({ text: "queued" }));
  await expect(send({ text: "too many" })).rejects.toMatchObject({ code: "SYS_002" });
  gate.open();
  await Promise.all(accepted);
});

test("one organisation fills at most half of the queue, and another's item goes with the next call", async () => {
  const gate = newGate();
  const { send, batches } = await start(async (note) => {
    if (note.text === "in flight") await gate.opened;
    return note;
  });
  const as = (orgId: string) =>
    runInContext({ requestId: newId("req"), traceparent: childTraceparent(), orgId }, () =>
      send({ text: orgId }),
    );
  const accepted = [send({ text: "in flight" })];
  await eventually(() => expect(batches).toHaveLength(1));
  for (let index = 0; index < 50; index += 1) accepted.push(as("many"));
  await expect(as("many")).rejects.toMatchObject({ code: "SYS_002" });
  for (let index = 0; index < 10; index += 1) accepted.push(as("few"));
  gate.open();
  await Promise.all(accepted);
  expect(batches[1]).toHaveLength(50);
  expect(batches[1]!.filter(({ text }) => text === "few")).toHaveLength(10);
});

test("closing answers accepted items and refuses later ones", async () => {
  const { send } = await start(async (note) => {
    await sleep(50);
    return note;
  });
  const accepted = send({ text: "accepted" });
  await send.close();
  await expect(accepted).resolves.toEqual({ text: "accepted" });
  await expect(send({ text: "late" })).rejects.toMatchObject({ code: "SYS_002" });
});

test("the items' deadlines hold although the clocks differ by a day", async () => {
  const nowMs = Date.now();
  const aDayAhead = nowMs + 86_400_000;
  const at = (deadlineMs: number) => ({
    requestId: "r",
    traceparent: "",
    orgId: "",
    deadline: new Date(deadlineMs),
  });
  const call: ServerCall = {
    context: { requestId: "bulk", traceparent: childTraceparent(), deadlineMs: nowMs + 1000 },
    signal: new AbortController().signal,
  };
  const seen: number[] = [];
  await serveItems([at(aDayAhead + 1000), at(aDayAhead + 400), at(aDayAhead - 500)], call, {
    contextOf: (item) => item,
    work: async (_item, { context }) => void seen.push(context.deadlineMs! - nowMs),
    log: recordedLog().log,
  });
  expect(seen).toEqual([1000, 400]);
});

/** Blocks work until the test opens it. */
function newGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** An echo server with a bulk method, and a coalesced client. */
async function start(
  work: (note: Note, call: ServerCall) => Promise<Note>,
  {
    log = recordedLog().log,
    ...handlers
  }: EchoHandlers & { log?: ReturnType<typeof recordedLog>["log"] } = {},
) {
  const batches: Note[][] = [];
  const { port } = await startEcho({
    say: work,
    sayAll: async ({ items }, call) => {
      batches.push(items.map(({ note }) => note));
      const answers = await serveItems(items, call, {
        contextOf: ({ context }) => context,
        work: ({ note }, itemCall) => work(note, itemCall),
        log,
      });
      return { answers: answers.map((answer) => ("error" in answer ? answer : { note: answer.value })) };
    },
    ...handlers,
  });
  const client = echoClient(port);
  const send = coalesce<Note, Note, NoteItem, NoteAnswer>({
    name: "say",
    bulk: async (items, options) => (await client.sayAll({ items }, options)).answers,
    unary: client.say,
    toItem: (note, context) => ({ context, note }),
    fromAnswer: ({ note, error }) => (error ? { error } : { value: note! }),
    defaultTimeoutMs: 15_000,
    maxBatch: 50,
    bytesOf: ({ text }) => ({ request: 1_000 + text.length, answer: 1_000 + 2 * text.length }),
    maxQueue: 100,
    registry: client.registry,
  });
  return { send, batches };
}
