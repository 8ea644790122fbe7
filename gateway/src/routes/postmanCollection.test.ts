import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Collection, type Item } from "postman-collection";
import { renderOpenApi, renderPostmanCollection } from "./renderOpenApi";

interface Documented {
  operationId: string;
  tags: string[];
  security: object[];
  parameters: { $ref?: string; in?: string; name: string }[];
  requestBody?: {
    content: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>;
  };
}

const document = JSON.parse(renderOpenApi()) as { paths: Record<string, Record<string, Documented>> };
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
/** Postman's own library reads the collection. */
const collection = new Collection(JSON.parse(renderPostmanCollection()) as object);

function itemOf(operationId: string): Item {
  return collection.oneDeep(operationId);
}

test("gateway/postman.json equals the rendered collection; if not, run npm run docs", () => {
  expect(readFileSync(join(__dirname, "../../postman.json"), "utf8")).toBe(renderPostmanCollection());
});

test("the collection has one request for each operation, in the folder of its tag", () => {
  const ids: string[] = [];
  collection.forEachItem(({ id }) => ids.push(id));
  expect(ids.sort()).toEqual(operations.map(({ operation }) => operation.operationId).sort());
  for (const { operation } of operations) {
    const folder = itemOf(operation.operationId).parent() as { name?: string } | undefined;
    expect([operation.operationId, folder?.name]).toEqual([operation.operationId, operation.tags[0]]);
  }
});

test("each request has the method, the path and the filters of its operation", () => {
  for (const { method, path, operation } of operations) {
    const { request } = itemOf(operation.operationId);
    expect(request.method).toBe(method);
    expect(request.url.getHost()).toBe("{{baseUrl}}");
    const filled = request.url.variables
      .all()
      .reduce(
        (text, { key, value }) => text.replace(`:${key}`, String(value)),
        `/${request.url.path!.join("/")}`,
      );
    expect(filled).toMatch(new RegExp(`^${path.replace(/\{\w+\}/g, "[a-z]+_[0-9a-z-]+")}$`));
    const filters = operation.parameters.filter((one) => one.in === "query").map(({ name }) => name);
    expect(request.url.query.map(({ key }: { key: string | null }) => key)).toEqual(filters);
  }
});

test("each request sends the first example of its operation, with a new idempotency key", () => {
  for (const { operation } of operations) {
    const { request } = itemOf(operation.operationId);
    const media = operation.requestBody?.content["application/json"];
    const example = media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
    expect(request.body === undefined ? undefined : JSON.parse(request.body.raw!)).toEqual(example);
    const isKeyed = operation.parameters.some(({ $ref }) => $ref?.endsWith("/Idempotency-Key"));
    expect(request.headers.get("Idempotency-Key")).toBe(isKeyed ? "{{$guid}}" : undefined);
    expect(request.auth?.type).toBe(operation.security.length === 0 ? "noauth" : undefined);
  }
});

test("the collection sends the variable apiKey as X-API-Key", () => {
  expect(collection.auth!.parameters().toObject()).toMatchObject({ key: "X-API-Key", value: "{{apiKey}}" });
});
