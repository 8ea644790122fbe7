import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { eventually, startProxy, type Proxy, type ProxyMode, type ProxyOptions } from ".";

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

  it("delays without changing the order", async () => {
    await start({ kind: "delay", delayMs: 30 });
    const client = open();
    const startMs = performance.now();
    for (const text of ["a", "b", "c"]) {
      client.socket.write(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await eventually(() => expect(client.text.replaceAll(/[<>]/g, "")).toBe("abc"));
    expect(performance.now() - startMs).toBeGreaterThan(55);
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
