import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomFreePort } from "./freePort";
import { openPortBook } from "./reservePort";

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "wonrail-ports-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a reserved port is not given to another stack", async () => {
  const preferred = await randomFreePort();
  const [one, other] = [openPortBook(dir), openPortBook(dir)];
  expect(await one.reserve(preferred)).toBe(preferred);
  expect(await other.reserve(preferred)).toBeGreaterThan(preferred);
  one.release();
  expect(await openPortBook(dir).reserve(preferred)).toBe(preferred);
});

test("a port in use by another program is skipped", async () => {
  const server = await listen();
  const { port } = server.address() as AddressInfo;
  expect(await openPortBook(dir).reserve(port)).toBeGreaterThan(port);
  server.close();
});

async function listen(): Promise<Server> {
  const port = await randomFreePort();
  return new Promise((resolve) => {
    const server = createServer().listen(port, "127.0.0.1", () => resolve(server));
  });
}
