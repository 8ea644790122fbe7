import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startProxy, type Proxy, type ProxyMode, type ProxyOptions } from "./proxy";
import { eventually } from "../eventually";
import { seeded } from "../random";

let echo: Server;
let proxy: Proxy;
const clients: Socket[] = [];

beforeAll(async () => {
  echo = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => socket.write(`<${chunk.toString()}>`));
  });
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
});
afterAll(() => echo.close());
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
});

async function start(
  mode: ProxyMode,
  heard: Pick<ProxyOptions, "onRequest" | "onAnswer"> = {},
): Promise<void> {
  const target = { host: "127.0.0.1", port: (echo.address() as AddressInfo).port };
  proxy = await startProxy({ target, mode, ...heard });
}

function open() {
  const socket = connect(proxy.port, proxy.host);
  const seen = { socket, text: "", end: "" };
  socket.on("data", (chunk) => (seen.text += chunk.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => (seen.end = error.code ?? ""));
  socket.on("close", () => (seen.end ||= "closed"));
  clients.push(socket);
  return seen;
}

describe("the proxy", () => {
  it("forwards both ways, and sends new connections to another target on request", async () => {
    await start({ kind: "pass" });
    const client = open();
    client.socket.write("a");
    await eventually(() => expect(client.text).toBe("<a>"));
    expect(proxy.connections).toBe(1);
    proxy.setTarget({ host: "127.0.0.1", port: 1 });
    const other = open();
    await eventually(() => expect(other.end).toBe("closed"));
    client.socket.end();
    await eventually(() => expect(proxy.connections).toBe(0));
  });

  it("listens at the given address, also with the target's port", async () => {
    const target = { host: "127.0.0.1", port: (echo.address() as AddressInfo).port };
    proxy = await startProxy({ target, listen: { host: "127.0.1.1", port: target.port } });
    const client = open();
    client.socket.write("a");
    await eventually(() => expect(client.text).toBe("<a>"));
    expect([proxy.host, proxy.port]).toEqual(["127.0.1.1", target.port]);
  });

  it("delays without changing the order", async () => {
    await start({ kind: "delay", delayMs: 30 });
    const client = open();
    const startMs = performance.now();
    for (const text of ["a", "b", "c"]) {
      client.socket.write(text);
      await sleep(5);
    }
    await eventually(() => expect(client.text.replaceAll(/[<>]/g, "")).toBe("abc"));
    expect(performance.now() - startMs).toBeGreaterThan(55);
  });

  it("keeps the order and delivers no byte early on a slow network", async () => {
    await start({ kind: "slow", random: seeded(7) });
    const client = open();
    const startMs = performance.now();
    for (const text of ["a", "b", "c"]) {
      client.socket.write(text);
      await sleep(5);
    }
    await eventually(() => expect(client.text.replaceAll(/[<>]/g, "")).toBe("abc"));
    expect(performance.now() - startMs).toBeGreaterThan(200);
  });

  it("passes at most 32 bytes per millisecond on a slow network", async () => {
    await start({ kind: "slow", random: seeded(7) });
    const client = open();
    const startMs = performance.now();
    client.socket.write("x".repeat(64_000));
    await eventually(() => expect(client.text.replaceAll(/[<>]/g, "")).toHaveLength(64_000));
    expect(performance.now() - startMs).toBeGreaterThan(64_000 / 32);
  });

  it("holds all bytes and ends while it is clogged, also of new connections, and releases them", async () => {
    await start({ kind: "pass" });
    const before = open();
    before.socket.write("a");
    await eventually(() => expect(before.text).toBe("<a>"));
    proxy.setMode({ kind: "clogged" });
    before.socket.write("b");
    const after = open();
    after.socket.end("c");
    await sleep(100);
    expect([before.text, after.text, after.end]).toEqual(["<a>", "", ""]);
    proxy.setMode({ kind: "pass" });
    await eventually(() => expect([before.text, after.text]).toEqual(["<a><b>", "<c>"]));
    await eventually(() => expect(after.end).toBe("closed"));
  });

  it("swallows everything, or only the answers, silently", async () => {
    let [asked, answered] = ["", ""];
    await start(
      { kind: "blackhole" },
      {
        onRequest: (chunk) => (asked += chunk.toString()),
        onAnswer: (chunk) => (answered += chunk.toString()),
      },
    );
    const dropped = open();
    dropped.socket.write("a");
    await eventually(() => expect(asked).toBe("a"));
    proxy.setMode({ kind: "dropResponses" });
    dropped.socket.write("b");
    await eventually(() => expect(answered).toBe("<b>"));
    expect(dropped).toMatchObject({ text: "", end: "" });
    proxy.setMode({ kind: "pass" });
    await eventually(() => expect(dropped.end).toBe("ECONNRESET"));
    expect(dropped.text).toBe("");
    const unharmed = open();
    unharmed.socket.write("c");
    await eventually(() => expect(unharmed.text).toBe("<c>"));
  });

  it("resets open and new connections", async () => {
    await start({ kind: "pass" });
    const before = open();
    before.socket.write("a");
    await eventually(() => expect(before.text).toBe("<a>"));
    proxy.setMode({ kind: "reset" });
    await eventually(() => expect(before.end).toBe("ECONNRESET"));
    const after = open();
    await eventually(() => expect(after.end).toBe("ECONNRESET"));
  });

  it("resets a connection in the middle of an answer", async () => {
    await start({ kind: "closeAfterBytes", bytes: 3 });
    const client = open();
    client.socket.write("a");
    await eventually(() => expect(client.text).toBe("<a>"));
    client.socket.write("b");
    await eventually(() => expect(client.end).toBe("ECONNRESET"));
  });

  it("starts a fault at a given request", async () => {
    const onRequest: ProxyOptions["onRequest"] = (chunk, self) => {
      if (chunk.includes("commit")) self.setMode({ kind: "reset" });
    };
    await start({ kind: "pass" }, { onRequest });
    const client = open();
    client.socket.write("begin");
    await eventually(() => expect(client.text).toBe("<begin>"));
    client.socket.write("commit");
    await eventually(() => expect(client.end).toBe("ECONNRESET"));
  });
});
