import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childTraceparent, currentContext, type RequestContext, runInContext, traceIdOf } from "../context";
import { DomainError } from "../contract/errors";
import { newId } from "../contract/ids";
import { eventually } from "../testing/eventually";
import { closeAll, echoClient, openProxy, startEcho } from "./echoService.testing";

afterEach(closeAll);

const context = (more: Partial<RequestContext> = {}): RequestContext => ({
  requestId: "req-from-outside.1",
  traceparent: childTraceparent(),
  ...more,
});

describe("context", () => {
  test("request id, organisation and trace travel with a call; the server is a new span of the trace", async () => {
    const orgId = newId("org");
    const sent = context({ orgId });
    let served: RequestContext | undefined;
    const { port } = await startEcho({
      say: async (note, call) => {
        expect(currentContext()).toBe(call.context);
        served = call.context;
        return note;
      },
    });
    await runInContext(sent, () => echoClient(port).say({ text: "" }));
    expect(served).toMatchObject({ requestId: sent.requestId, orgId });
    expect(traceIdOf(served!.traceparent)).toBe(traceIdOf(sent.traceparent));
    expect(served!.traceparent).not.toBe(sent.traceparent);
  });

  test("an id that could break a log line is replaced, and an invalid organisation is dropped", async () => {
    let served: RequestContext | undefined;
    const { port } = await startEcho({
      say: async (note, call) => {
        served = call.context;
        return note;
      },
    });
    const forged = context({ requestId: "has spaces and {braces}", orgId: "org_x", traceparent: "rubbish" });
    await runInContext(forged, () => echoClient(port).say({ text: "" }));
    expect(served!.requestId).toMatch(/^req_[0-9a-f]{32}$/);
    expect(served!.orgId).toBeUndefined();
    expect(served!.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });
});

describe("deadlines", () => {
  test("a deadline passes through two hops and only shrinks", async () => {
    const second = await startEcho({
      say: async (_note, call) => ({ text: String(call.context.deadlineMs! - Date.now()) }),
    });
    const toSecond = echoClient(second.port, { defaultTimeoutMs: 60_000 });
    const first = await startEcho({ say: async (note) => toSecond.say(note) });
    const toFirst = echoClient(first.port, { defaultTimeoutMs: 20_000 });
    const remainingMs = Number((await toFirst.say({ text: "" })).text);
    expect(remainingMs).toBeGreaterThan(5_000);
    expect(remainingMs).toBeLessThanOrEqual(20_000);
  });

  test("a call's own timeout never extends the request's deadline", async () => {
    const { port } = await startEcho({ say: () => new Promise(() => undefined) });
    const client = echoClient(port);
    const startedAt = Date.now();
    const call = runInContext(context({ deadlineMs: startedAt + 100 }), () =>
      client.say({ text: "" }, { timeoutMs: 60_000 }),
    );
    await expect(call).rejects.toMatchObject({ code: "SYS_003" });
    expect(Date.now() - startedAt).toBeLessThan(20_000);
  });

  test("a call without an end is refused as a mistake", async () => {
    for (const timeoutMs of [Infinity, NaN, 1e12]) {
      await expect(echoClient(1).say({ text: "" }, { timeoutMs })).rejects.toThrow(
        "every call has a deadline",
      );
    }
  });

  test("a call is not sent after its deadline or abort", async () => {
    let calls = 0;
    const { port } = await startEcho({
      say: async (note) => {
        calls += 1;
        return note;
      },
    });
    const client = echoClient(port);
    const late = context({ deadlineMs: Date.now() - 1 });
    await expect(runInContext(late, () => client.say({ text: "" }))).rejects.toMatchObject({
      code: "SYS_003",
    });
    await expect(client.say({ text: "" }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "SYS_003",
    });
    expect(calls).toBe(0);
  });

  test("the server's work is aborted at the deadline, and when the caller leaves", async () => {
    const [begun, ends]: [string[], string[]] = [[], []];
    const { port, registry } = await startEcho({
      say: async (note, call) => {
        begun.push(note.text);
        // The caller gives up at the same moment. Without that message the deadline ends the work.
        if (note.text === "too slow") proxy.setMode({ kind: "blackhole" });
        await once(call.signal, "abort");
        ends.push(note.text);
        throw new Error("work that was cut short fails somehow");
      },
    });
    const proxy = await openProxy(port);
    const hurried = echoClient(proxy.port);
    // Connects first, so that a busy machine does not spend the call's time on that.
    await eventually(() => hurried.ready());
    await expect(hurried.say({ text: "too slow" }, { timeoutMs: 2_500 })).rejects.toMatchObject({
      code: "SYS_003",
    });
    const goingAway = new AbortController();
    const cancelled = echoClient(port).say({ text: "cancelled" }, { signal: goingAway.signal });
    await eventually(() => expect(begun).toEqual(["too slow", "cancelled"]));
    goingAway.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "SYS_003" });
    await eventually(() => expect(ends.sort()).toEqual(["cancelled", "too slow"]));
    await eventually(async () => {
      const metrics = await registry.metrics();
      expect(metrics).toMatch(/grpc_server_handled_total\{[^}]*grpc_code="Canceled"[^}]*\} 1/);
      expect(metrics).toMatch(/grpc_server_handled_total\{[^}]*grpc_code="DeadlineExceeded"[^}]*\} 1/);
    });
  });

  test("a call to a stopped server ends soon after its deadline, and the next one finds the server again", async () => {
    const server = spawn(process.execPath, ["-e", SILENT_SERVER], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
      const client = echoClient(Number(line), {
        defaultTimeoutMs: 2_000,
        breaker: { volumeThreshold: 1000 },
      });
      await expect(client.say({ text: "hello" }, { timeoutMs: 20_000 })).resolves.toEqual({ text: "hello" });

      server.kill("SIGSTOP");
      const startedAt = Date.now();
      const calls = Array.from({ length: 10 }, () => client.say({ text: "" }, { timeoutMs: 1200 }));
      const results = await Promise.allSettled(calls);
      expect(Date.now() - startedAt).toBeLessThan(15_000);
      for (const result of results) expect(result).toMatchObject({ reason: { code: "SYS_003" } });

      server.kill("SIGCONT");
      await eventually(() => expect(client.say({ text: "back" })).resolves.toEqual({ text: "back" }));
    } finally {
      server.kill("SIGKILL");
    }
  });

  test("a silent connection is replaced after a few consecutive timeouts", async () => {
    let arrived = 0;
    const silent = await startEcho({ say: () => ((arrived += 1), new Promise(() => undefined)) });
    const healthy = await startEcho({ say: async (note) => note });
    const proxy = await openProxy(silent.port);
    const client = echoClient(proxy.port, { defaultTimeoutMs: 100, breaker: { volumeThreshold: 1000 } });
    await eventually(async () => {
      await expect(client.say({ text: "" })).rejects.toMatchObject({ code: "SYS_003" });
      expect(arrived).toBeGreaterThan(0);
    });
    // Only new connections reach the healthy server.
    proxy.setTarget({ host: "127.0.0.1", port: healthy.port });
    await eventually(() => expect(client.say({ text: "anew" })).resolves.toEqual({ text: "anew" }));
  });
});

describe("an unreachable dependency", () => {
  test("a call that was not sent is SYS_002, and one whose connection was lost is SYS_003", async () => {
    const { port } = await startEcho({
      say: () => {
        proxy.setMode({ kind: "reset" });
        return new Promise(() => undefined);
      },
    });
    const proxy = await openProxy(port);
    const running = echoClient(proxy.port).say({ text: "" });
    await expect(running).rejects.toMatchObject({ code: "SYS_003" });
    await expect(echoClient(1).say({ text: "" })).rejects.toMatchObject({ code: "SYS_002" });
  });

  test("a call is retried only if its caller allows it and it carries a request id", async () => {
    let calls = 0;
    const { port } = await startEcho({
      say: async (note) => {
        calls += 1;
        if (calls < 3) throw new DomainError("SYS_002");
        return note;
      },
    });
    const client = echoClient(port);
    await expect(client.say({ text: "", requestId: "a" })).rejects.toMatchObject({ code: "SYS_002" });
    expect(calls).toBe(1);
    calls = 0;
    await expect(client.say({ text: "" }, { retry: true })).rejects.toMatchObject({ code: "SYS_002" });
    await runInContext(context(), async () => {
      const empty = client.say({ text: "", requestId: "" }, { retry: true });
      await expect(empty).rejects.toMatchObject({ code: "SYS_002" });
    });
    expect(calls).toBe(2);
    calls = 0;
    await expect(client.say({ text: "x", requestId: "a" }, { retry: true })).resolves.toMatchObject({
      text: "x",
    });
    expect(calls).toBe(3);
    calls = 0;
    await expect(runInContext(context(), () => client.say({ text: "y" }, { retry: true }))).resolves.toEqual({
      text: "y",
    });
    expect(calls).toBe(3);
  });

  test("neither a refusal nor a call with an unknown outcome is retried", async () => {
    for (const code of ["WAL_002", "RATE_001", "SYS_001", "SYS_003"] as const) {
      let calls = 0;
      const { port } = await startEcho({
        say: async () => {
          calls += 1;
          throw new DomainError(code);
        },
      });
      await expect(echoClient(port).say({ text: "", requestId: "a" }, { retry: true })).rejects.toMatchObject(
        { code },
      );
      expect(calls).toBe(1);
    }
  });

  test("a last attempt that was not sent leaves an earlier one's outcome unknown", async () => {
    let done = 0;
    const { port } = await startEcho({
      say: async () => {
        done += 1;
        // The answer never comes, and the server is gone.
        await proxy.close();
        return new Promise<never>(() => undefined);
      },
    });
    const proxy = await openProxy(port);
    const client = echoClient(proxy.port);
    const onUnsure = jest.fn();
    const options = { retry: true, onUnsure } as const;
    await expect(client.say({ text: "", requestId: "a" }, options)).rejects.toMatchObject({
      code: "SYS_003",
    });
    expect([done, onUnsure.mock.calls.length]).toEqual([1, 1]);
    await expect(client.say({ text: "", requestId: "b" }, options)).rejects.toMatchObject({
      code: "SYS_002",
    });
    expect(onUnsure).toHaveBeenCalledTimes(1);
  });

  test("retries end with the deadline", async () => {
    let calls = 0;
    const now = Date.now;
    const { port } = await startEcho({
      say: async () => {
        calls += 1;
        // By the clock, less is left than the shortest pause before another try.
        if (calls === 2) Date.now = () => now() + 59_990;
        throw new DomainError("SYS_002");
      },
    });
    try {
      const call = echoClient(port).say({ text: "", requestId: "a" }, { retry: true, timeoutMs: 60_000 });
      await expect(call).rejects.toMatchObject({ code: "SYS_002" });
      expect(calls).toBe(2);
    } finally {
      Date.now = now;
    }
  });
});

describe("the circuit breaker", () => {
  // Open for long enough to be seen so, also by a test that was held up.
  const breaker = { volumeThreshold: 5, resetTimeoutMs: 2_000 };

  test("opens when the dependency is gone, and closes after one successful call", async () => {
    const { port } = await startEcho({ say: async (note) => note });
    const proxy = await openProxy(port);
    proxy.setMode({ kind: "reset" });
    const client = echoClient(proxy.port, { breaker });
    for (let call = 0; call < 5; call += 1) await client.say({ text: "" }).catch(() => undefined);
    await expect(client.say({ text: "" })).rejects.toMatchObject({
      code: "SYS_002",
      details: { retryAfterMs: 2_000 },
    });
    expect(await client.registry.metrics()).toContain('circuit_breaker_state{name="echo",state="open"} 1');

    proxy.setMode({ kind: "pass" });
    await eventually(() => expect(client.say({ text: "back" })).resolves.toEqual({ text: "back" }));
    const metrics = await client.registry.metrics();
    expect(metrics).toContain('circuit_breaker_state{name="echo",state="closed"} 1');
    expect(metrics).toContain('circuit_breaker_state{name="echo",state="open"} 0');
    expect(metrics).toMatch(/circuit_breaker_events_total\{name="echo",event="open"\} [1-9]/);
    expect(metrics).toMatch(/circuit_breaker_events_total\{name="echo",event="half_open"\} [1-9]/);
    expect(metrics).toContain('circuit_breaker_events_total{name="echo",event="close"} 1');
  });

  test("stays closed for refusals, server faults and callers that come too late", async () => {
    const { port } = await startEcho({
      say: async ({ text }, { signal }) => {
        if (text === "slow") await once(signal, "abort");
        throw new DomainError(text === "broken" ? "SYS_001" : text === "busy" ? "SYS_002" : "PAY_001");
      },
    });
    const client = echoClient(port, { breaker });
    for (const text of ["refused", "broken", "busy", "slow"]) {
      const calls = Array.from({ length: 10 }, () =>
        client.say({ text }, text === "slow" ? { timeoutMs: 50 } : {}),
      );
      await Promise.allSettled(calls);
    }
    expect(await client.registry.metrics()).toContain('circuit_breaker_state{name="echo",state="closed"} 1');
    await expect(client.say({ text: "refused" })).rejects.toMatchObject({ code: "PAY_001" });
  });

  test("opens when calls with enough time get no answer", async () => {
    const { port } = await startEcho({ say: () => new Promise(() => undefined) });
    const client = echoClient(port, {
      breaker: { ...breaker, resetTimeoutMs: 10_000 },
      defaultTimeoutMs: 80,
    });
    await Promise.allSettled(Array.from({ length: 6 }, () => client.say({ text: "" })));
    await expect(client.say({ text: "" })).rejects.toMatchObject({ code: "SYS_002" });
  });
});

test("both sides count and time their calls", async () => {
  const server = await startEcho({
    say: async () => {
      throw new DomainError("WAL_002");
    },
  });
  const client = echoClient(server.port);
  await client.say({ text: "" }).catch(() => undefined);
  const labels = 'grpc_service="wonrail.test.v1.EchoService",grpc_method="Say",grpc_type="unary"';
  for (const [side, registry] of [
    ["server", server.registry],
    ["client", client.registry],
  ] as const) {
    const metrics = await registry.metrics();
    expect(metrics).toContain(`grpc_${side}_started_total{${labels}} 1`);
    expect(metrics).toContain(`grpc_${side}_handled_total{${labels},grpc_code="NotFound"} 1`);
    expect(metrics).toContain(`grpc_${side}_handling_seconds_count{${labels}} 1`);
  }
});

test("a closed client refuses", async () => {
  const { port } = await startEcho({ say: async (note) => note });
  const client = echoClient(port);
  client.close();
  await expect(client.say({ text: "" })).rejects.toMatchObject({ code: "SYS_002" });
});

/** A server in its own process, in plain JavaScript for a fast start. */
const SILENT_SERVER = `
  const { Server, ServerCredentials } = require("@grpc/grpc-js");
  const asIs = (bytes) => bytes;
  const say = { path: "/wonrail.test.v1.EchoService/Say", requestStream: false, responseStream: false,
    requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
  const server = new Server();
  server.addService({ say }, { say: (call, answer) => answer(null, call.request) });
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, port) => console.log(port));
`;
