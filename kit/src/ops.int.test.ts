import { connect, Server } from "node:net";
import { createLog } from "./log";
import { createRegistry } from "./metrics";
import { type Ops, type OpsOptions, startOps } from "./ops";
import { testLog } from "./testing";

let ops: Ops | undefined;
afterEach(() => ops?.close());

async function start(options: Partial<OpsOptions> = {}): Promise<string> {
  const registry = createRegistry({ service: "test", version: "1.2.3", commit: "abc" });
  ops = await startOps({ host: "127.0.0.1", port: 0, log: testLog(), registry, checks: {}, ...options });
  return `http://127.0.0.1:${ops.port}`;
}

async function get(url: string, method = "GET") {
  const response = await fetch(url, { method });
  return { status: response.status, text: await response.text() };
}

test("liveness follows live() only, whatever the dependencies report", async () => {
  let live = true;
  const url = await start({
    live: () => live,
    checks: { database: () => Promise.reject(new Error("gone")) },
  });
  expect(await get(`${url}/livez`)).toMatchObject({ status: 200 });
  live = false;
  expect(await get(`${url}/livez`)).toMatchObject({ status: 503 });
});

test("readiness requires every check, and names failing ones without internal details", async () => {
  const failing = new Set<string>();
  const check = (name: string) => async () => {
    if (failing.has(name)) throw new Error("password authentication failed for user wonrail at 10.0.0.7");
  };
  const url = await start({ checks: { database: check("database"), bus: check("bus") } });
  expect(await get(`${url}/readyz`)).toMatchObject({ status: 200 });
  failing.add("bus");
  const { status, text } = await get(`${url}/readyz?verbose`);
  expect(status).toBe(503);
  expect(JSON.parse(text)).toEqual({ ready: false, draining: false, failing: ["bus"] });
});

test("a check that hangs or throws is a failure, and concurrent probes share it", async () => {
  let runs = 0;
  const url = await start({
    // Long enough for all three probes to arrive.
    checkTimeoutMs: 2_000,
    checks: {
      hanging: () => {
        runs += 1;
        return new Promise(() => undefined);
      },
      throwing: () => {
        throw new Error("at once");
      },
    },
  });
  const answers = await Promise.all([get(`${url}/readyz`), get(`${url}/readyz`), get(`${url}/readyz`)]);
  for (const { text } of answers)
    expect(JSON.parse(text)).toMatchObject({ failing: ["hanging", "throwing"] });
  expect(runs).toBe(1);
});

test("is not ready, but live, from the start of draining", async () => {
  const url = await start();
  ops!.setDraining();
  expect(await get(`${url}/readyz`)).toMatchObject({
    status: 503,
    text: expect.stringContaining('"draining":true'),
  });
  expect(await get(`${url}/livez`)).toMatchObject({ status: 200 });
});

test("serves the metrics", async () => {
  const url = await start();
  const { status, text } = await get(`${url}/metrics`);
  expect(status).toBe(200);
  expect(text).toContain('build_info{service="test",version="1.2.3",commit="abc"} 1');
});

test("refuses other paths and methods", async () => {
  const url = await start();
  expect(await get(`${url}/`)).toMatchObject({ status: 404 });
  expect(await get(`${url}/constructor`)).toMatchObject({ status: 404 });
  expect(await get(`${url}/metrics`, "POST")).toMatchObject({ status: 405 });
  expect(await get(`${url}/livez`, "HEAD")).toEqual({ status: 200, text: "" });
});

test("each failed accept is logged, and the next connection is answered", async () => {
  const lines: string[] = [];
  const listening = jest.spyOn(Server.prototype, "listen");
  const destination = { write: (line: string) => void lines.push(line) };
  const url = await start({ log: createLog({ service: "test", destination }) });
  const server = listening.mock.contexts[0] as Server;
  listening.mockRestore();
  for (let i = 0; i < 3; i += 1) server.emit("error", new Error("accept EMFILE"));
  expect(lines.filter((line) => line.includes("accept EMFILE"))).toHaveLength(3);
  expect(await get(`${url}/livez`)).toMatchObject({ status: 200 });
});

test("a used port fails the start", async () => {
  const url = new URL(await start());
  const registry = createRegistry({ service: "test", version: "1.2.3", commit: "abc" });
  const again = { host: "127.0.0.1", port: Number(url.port), log: testLog(), registry, checks: {} };
  await expect(startOps(again)).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("a silent client does not delay closing", async () => {
  await start();
  const socket = connect(ops!.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write("GET /livez HTTP/1.1\r\n");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  await ops!.close();
  await closed;
});
