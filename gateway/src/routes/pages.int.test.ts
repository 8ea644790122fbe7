import { startGateway, type TestGateway } from "../testing/startGateway";

let gateway: TestGateway;

beforeAll(async () => {
  // The pages need no other service.
  gateway = await startGateway({ authPort: 1 });
});

afterAll(() => gateway.close());

describe("the pages about the contract", () => {
  test("the document is served without a key", async () => {
    const { status, text } = await gateway.send("GET", "/api/openapi.json");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0", info: { title: "Wonrail API" } });
  });

  test("the collection of requests is served without a key", async () => {
    const { status, text } = await gateway.send("GET", "/api/postman.json");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ info: { name: "Wonrail API" }, auth: { type: "apikey" } });
  });

  test.each(["/api/docs", "/api/docs/", "/api/docs?a=b"])(
    "%s is the page, and all its parts come from this host",
    async (path) => {
      const { status, text, headers } = await gateway.send("GET", path);
      expect(status).toBe(200);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(headers["content-security-policy"]).toContain("script-src 'self';");
      const parts = [...text.matchAll(/src="([^"]+)"/g)].map((match) => match[1]!);
      expect(parts).toEqual(["/api/docs/scalar.js", "/api/docs/page.js"]);
      for (const part of parts) {
        const answer = await gateway.send("GET", part);
        expect([part, answer.status, answer.headers["content-type"]]).toEqual([
          part,
          200,
          "text/javascript; charset=utf-8",
        ]);
      }
      expect((await gateway.send("GET", "/api/docs/page.js")).text).toContain('"/api/openapi.json"');
    },
  );

  test.each([
    ["Range", "bytes=999999999-"],
    ["If-Match", '"another"'],
    ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ])("a page's part is sent uncompressed when the request has the header %s", async (name, value) => {
    const options = { headers: { [name]: value } };
    expect((await gateway.send("GET", "/api/docs/page.js", options)).status).toBe(200);
  });

  test.each([
    "/api/docs/package.json",
    "/api/docs/../../package.json",
    "/api/docs/%2e%2e%2fpackage.json",
    "/api/docs/scalar.js.map",
    "/API/docs/",
  ])("%s does not exist", async (path) => {
    const { status, body } = await gateway.send("GET", path);
    expect([status, body.error?.code]).toEqual([404, "REQ_004"]);
  });

  test("a method other than GET is refused", async () => {
    const { status, headers, body } = await gateway.send("POST", "/api/docs");
    expect([status, body.error?.code, headers.allow]).toEqual([405, "REQ_005", "GET, HEAD"]);
  });
});
