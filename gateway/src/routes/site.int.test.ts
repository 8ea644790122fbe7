import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { startGateway, type TestGateway } from "../testing/startGateway";

const PAGE = `<html><head><script>var dark = 1;</script><script src="/docs/assets/a.js"></script></head></html>`;
let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "wonrail-site-"));
  mkdirSync(join(folder, "site/guides"), { recursive: true });
  mkdirSync(join(folder, "site/assets"));
  writeFileSync(join(folder, "secret.html"), "not of the site");
  writeFileSync(join(folder, "site/index.html"), PAGE);
  writeFileSync(join(folder, "site/guides/sdk.html"), PAGE);
  writeFileSync(join(folder, "site/guides/sdk.html.gz"), gzipSync(PAGE));
  writeFileSync(join(folder, "site/assets/app.1a2b.js"), "start();");
  // The pages need no other service.
  gateway = await startGateway({ authPort: 1, siteFolder: join(folder, "site") });
});

afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

test.each(["/docs", "/docs/", "/docs/?a=b", "/docs/index.html", "/docs/guides/sdk", "/docs/guides/sdk.html"])(
  "%s answers a page that loads nothing from another host",
  async (path) => {
    const { status, text, headers } = await gateway.send("GET", path);
    expect([status, text]).toEqual([200, PAGE]);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["cache-control"]).toBe("no-cache");
    expect(headers["content-security-policy"]).toContain(
      // sha256 of "var dark = 1;", the only inline script.
      "default-src 'none'; script-src 'self' 'sha256-qIT4oHBqFe9exUvDD+Svqy+OpUgfRU7FCY8c7qUVHA0='; style-src 'self'",
    );
    expect(headers["content-security-policy"]).not.toMatch(/unsafe-eval|https?:/);
  },
);

test("files with a hash in their name are kept by clients for a year", async () => {
  const { headers } = await gateway.send("GET", "/docs/assets/app.1a2b.js");
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
});

test("a page is sent in its compressed form when the client accepts it", async () => {
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/docs/guides/sdk`);
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(await answer.text()).toBe(gunzipSync(gzipSync(PAGE)).toString());
});

test.each([
  "/docs/../secret.html",
  "/docs/%2e%2e/secret.html",
  "/docs/..%2fsecret.html",
  "/docs//etc/passwd",
  "/docs/guides",
  "/docs/guides/sdk.html.gz",
  "/DOCS/",
])("%s does not exist", async (path) => {
  const { status, body } = await gateway.send("GET", path);
  expect([status, body.error?.code]).toEqual([404, "REQ_004"]);
});

test("a method other than GET is refused", async () => {
  const { status, headers, body } = await gateway.send("POST", "/docs/");
  expect([status, body.error?.code, headers.allow]).toEqual([405, "REQ_005", "GET, HEAD"]);
});

test("requests are limited by the caller's address", async () => {
  const limited = await startGateway({ authPort: 1, siteFolder: join(folder, "site") });
  const statuses = new Set<number>();
  for (let rounds = 0; rounds < 50 && !statuses.has(429); rounds += 1) {
    const sent = Array.from({ length: 100 }, () => limited.send("GET", "/docs/"));
    for (const { status } of await Promise.all(sent)) statuses.add(status);
  }
  await limited.close();
  expect([...statuses].sort()).toEqual([200, 429]);
});

test("without a built site the paths are unknown", async () => {
  const bare = await startGateway({ authPort: 1, siteFolder: join(folder, "absent") });
  const { status, body } = await bare.send("GET", "/docs/");
  await bare.close();
  expect([status, body.error?.code]).toEqual([404, "REQ_004"]);
});
