import { startGateway, type TestGateway } from "../testing/startGateway";

let gateway: TestGateway;

beforeAll(async () => {
  // Nobody needs to be there for the pages.
  gateway = await startGateway({ authPort: 1 });
});

afterAll(() => gateway.close());

describe("the contract's pages", () => {
  test("the document is served without a key", async () => {
    const { status, text } = await gateway.send("GET", "/api/openapi.json");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0", info: { title: "Wonrail" } });
  });

  test("the pages and all their parts come from our own host", async () => {
    expect((await gateway.send("GET", "/api/docs")).headers.location).toBe("/api/docs/");
    expect((await gateway.send("GET", "/api/docs?a=b")).headers.location).toBe("/api/docs/?a=b");
    const { status, text, headers } = await gateway.send("GET", "/api/docs/");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toContain("script-src 'self'");
    const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(parts.length).toBeGreaterThan(3);
    for (const part of parts) {
      expect(part).toMatch(/^\.\//);
      expect((await gateway.send("GET", `/api/docs/${part.slice(2)}`)).status).toBe(200);
    }
    expect((await gateway.send("GET", "/api/docs/swagger-ui-init.js")).text).toContain(
      '"swaggerUrl": "/api/openapi.json"',
    );
  });

  test.each([
    ["Range", "bytes=999999999-"],
    ["If-Match", '"another"'],
    ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ])("a part comes whole whatever %s says: to refuse it is no failure of ours", async (name, value) => {
    const options = { headers: { [name]: value } };
    expect((await gateway.send("GET", "/api/docs/swagger-ui.css", options)).status).toBe(200);
  });

  test.each([
    "/api/docs/package.json",
    "/api/docs/../../package.json",
    "/api/docs/%2e%2e%2fpackage.json",
    "/api/docs/%zz",
    "/api/docs/swagger-ui.css.map",
    "/API/docs/",
  ])("%s is not one of them", async (path) => {
    const { status, body } = await gateway.send("GET", path);
    expect([status, body.error?.code]).toEqual([404, "REQ_004"]);
  });
});
