import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@wonrail/kit/testing";
import { seeded } from "./random";
import { type SlowLink, startSlowLink } from "./slowLink";

const TEXTS = ["one", " two", " three", " four"];

let echo: Server;
let link: SlowLink;
let client: Socket;
let heard: string;

beforeEach(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  const { port } = echo.address() as AddressInfo;
  link = await startSlowLink({ host: "127.0.0.1", port }, seeded(7));
  open();
});
afterEach(() => {
  client.destroy();
  link.close();
  echo.close();
});

function open(): void {
  heard = "";
  client = connect(link.port, "127.0.0.1");
  client.on("data", (chunk) => (heard += chunk.toString()));
}

test("a slow link keeps the order and delivers no byte early", async () => {
  link.turn("slow");
  const startedMs = performance.now();
  for (const text of TEXTS) {
    client.write(text);
    await sleep(5);
  }
  await eventually(() => expect(heard).toBe(TEXTS.join("")));
  expect(performance.now() - startedMs).toBeGreaterThan(200);
});

test("a slow link passes at most 32 bytes per millisecond", async () => {
  link.turn("slow");
  const startedMs = performance.now();
  client.write("x".repeat(64_000));
  await eventually(() => expect(heard).toHaveLength(64_000));
  expect(performance.now() - startedMs).toBeGreaterThan(64_000 / 32);
});

test("a clogged link holds all bytes, also of new connections, and releases them when it opens", async () => {
  client.write("before");
  await eventually(() => expect(heard).toBe("before"));
  link.turn("clogged");
  client.write(" held");
  const old = client;
  await sleep(100);
  expect(heard).toBe("before");
  link.turn("good");
  await eventually(() => expect(heard).toBe("before held"));
  old.destroy();
  link.turn("clogged");
  open();
  client.end("new");
  await sleep(100);
  expect(heard).toBe("");
  link.turn("good");
  await eventually(() => expect(heard).toBe("new"));
  await eventually(() => expect(client.destroyed).toBe(true));
});
