import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../ops/repository";
import { type ApiDocument, describeChanges } from "./describeChanges";

const DOCUMENT = readFileSync(join(ROOT, "gateway/openapi.json"), "utf8");

/** The present document, changed. */
function changed(change: (document: Mutable) => void): ApiDocument {
  const document: Mutable = JSON.parse(DOCUMENT);
  change(document);
  return document;
}

/* eslint-disable-next-line @typescript-eslint/no-explicit-any */
type Mutable = any;
const present = changed(() => undefined);

test("a document has no changes against itself", () => {
  expect(describeChanges(present, present)).toEqual([]);
});

test("new, changed and removed parts of an operation are described", () => {
  const before = changed(({ paths, components: { schemas } }) => {
    const charge = paths["/api/wallets/charge"].post;
    delete charge.responses[404].content["application/json"].examples.WAL_002;
    charge.security = [{ apiKey: ["charges:create"] }];
    delete schemas.CreateCharge.properties.memo;
    schemas.CreateCharge.properties.note = { type: "string" };
    schemas.CreateCharge.required.push("note");
    schemas.CreateCharge.properties.amount.type = "string";
  });
  const [change, ...others] = describeChanges(before, present);
  expect(others).toEqual([]);
  expect(change).toEqual({
    place: "POST /api/wallets/charge",
    sentences: [
      "The error `WAL_002` is new: status 404.",
      "The request field `amount` is integer, required; before string, required.",
      "The request field `memo` is new: string.",
      "The request field `note` is gone.",
      "The scope is `charges:write`; before `charges:create`.",
    ],
  });
});

test("whole operations, deprecations and fields of shared schemas are described", () => {
  const after = changed(({ paths, components: { schemas } }) => {
    paths["/api/new"] = { get: paths["/api/wallets"].get };
    delete paths["/api/wallets/charge"].get;
    paths["/api/events"].get.deprecated = true;
    schemas.Settlement.properties.confirmations = { type: "integer" };
  });
  const changes = new Map(describeChanges(present, after).map(({ place, sentences }) => [place, sentences]));
  expect(changes.get("GET /api/new")).toEqual(["New operation."]);
  expect(changes.get("GET /api/wallets/charge")).toEqual(["The operation is gone."]);
  expect(changes.get("GET /api/events")).toEqual(["The deprecation is new: announced."]);
  expect(changes.get("GET /api/wallets/transfer/{transferId}")).toEqual([
    "The response field `data.settlement.confirmations` is new: integer.",
  ]);
});

test("a change of all operations is described once", () => {
  const before = changed(({ paths }) => {
    for (const methods of Object.values<Mutable>(paths))
      for (const operation of Object.values<Mutable>(methods))
        operation.parameters = operation.parameters.filter(
          ({ $ref }: { $ref?: string }) => !$ref?.endsWith("Wonrail-Version"),
        );
  });
  expect(describeChanges(before, present)).toEqual([
    {
      place: "All operations",
      sentences: [expect.stringMatching(/^The header parameter `Wonrail-Version` is new: `"/) as string],
    },
  ]);
});
