/** As much of an OpenAPI document as the comparison reads. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components?: { schemas?: Record<string, ApiSchema>; parameters?: Record<string, ApiParameter> };
}

interface ApiOperation {
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: (ApiParameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema?: ApiSchema }> };
  responses?: Record<
    string,
    { content?: Record<string, { schema?: ApiSchema; examples?: Record<string, unknown> }> }
  >;
}

interface ApiParameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: ApiSchema;
}

interface ApiSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  items?: ApiSchema;
  oneOf?: ApiSchema[];
  anyOf?: ApiSchema[];
  allOf?: ApiSchema[];
}

export interface PlaceChanges {
  /** An operation such as "POST /api/wallets", or "All operations". */
  place: string;
  sentences: string[];
}

const ALL_OPERATIONS = "All operations";

/** Facts of an operation that a caller can notice: name and value. */
type Facts = Map<string, string>;

/** The differences between two documents that a caller can notice, by operation. */
export function describeChanges(before: ApiDocument, after: ApiDocument): PlaceChanges[] {
  const [old, now] = [factsOf(before), factsOf(after)];
  const removed = [...old.keys()].filter((place) => !now.has(place));
  const kept = [...now.keys()].filter((place) => old.has(place));
  const changed = new Map(kept.map((place) => [place, compare(old.get(place)!, now.get(place)!)]));
  const common = commonSentences([...changed.values()]);
  const own = [...now.keys()].map((place) => ({
    place,
    sentences: changed.get(place)?.filter((sentence) => !common.includes(sentence)) ?? ["New operation."],
  }));
  return [
    { place: ALL_OPERATIONS, sentences: common },
    ...own,
    ...removed.map((place) => ({ place, sentences: ["The operation is gone."] })),
  ].filter(({ sentences }) => sentences.length > 0);
}

/** Sentences that are true of each operation, such as a new header. */
function commonSentences(all: string[][]): string[] {
  if (all.length < 2) return [];
  return all[0]!.filter((sentence) => all.every((sentences) => sentences.includes(sentence)));
}

function compare(old: Facts, now: Facts): string[] {
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    const [before, after] = [old.get(name), now.get(name)];
    if (before === after) return [];
    if (after === undefined) return [`${name} is gone.`];
    return [before === undefined ? `${name} is new: ${after}.` : `${name} is ${after}; before ${before}.`];
  });
}

function factsOf(document: ApiDocument): Map<string, Facts> {
  return new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        operationFacts(operation, document),
      ]),
    ),
  );
}

function operationFacts(operation: ApiOperation, document: ApiDocument): Facts {
  const { deprecated, security = [], parameters = [], requestBody, responses = {} } = operation;
  const facts: Facts = new Map();
  if (deprecated) facts.set("The deprecation", "announced");
  const scopes = [...new Set(security.flatMap((one) => Object.values(one).flat()))];
  if (scopes.length > 0) facts.set("The scope", code(scopes.join(" ")));
  for (const given of parameters) {
    const { name, in: place, required, schema = {} } = parameterOf(given, document);
    facts.set(`The ${place} parameter ${code(name)}`, described(schema, document, required));
  }
  const body = requestBody?.content["application/json"]?.schema;
  if (body) addFields(facts, "The request field", body, document);
  for (const [status, { content }] of Object.entries(responses)) {
    const { schema, examples = {} } = content?.["application/json"] ?? {};
    if (status.startsWith("2")) addFields(facts, "The response field", schema ?? {}, document);
    else for (const error of Object.keys(examples)) facts.set(`The error ${code(error)}`, `status ${status}`);
  }
  return facts;
}

function parameterOf(given: ApiParameter | { $ref: string }, document: ApiDocument): ApiParameter {
  return "$ref" in given ? document.components!.parameters![lastPart(given.$ref)]! : given;
}

/** Adds the fields below a schema. A field inside of itself is added once. */
function addFields(facts: Facts, kind: string, root: ApiSchema, document: ApiDocument): void {
  function visit(given: ApiSchema, path: string, above: readonly ApiSchema[]): void {
    const schema = resolve(given, document);
    if (above.includes(schema)) return;
    const within = [...above, schema];
    for (const variant of [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
      visit(variant, path, within);
    if (schema.items) visit(schema.items, `${path}[]`, within);
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      const isRequired = kind === "The request field" && schema.required?.includes(name);
      facts.set(`${kind} ${code(at)}`, described(field, document, isRequired));
      visit(field, at, within);
    }
  }
  visit(root, "", []);
}

function described(given: ApiSchema, document: ApiDocument, isRequired = false): string {
  return `${typeOf(given, document)}${isRequired ? ", required" : ""}`;
}

function typeOf(given: ApiSchema, document: ApiDocument): string {
  const schema = resolve(given, document);
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  const variants = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (variants) return [...new Set(variants.map((variant) => typeOf(variant, document)))].join(" or ");
  return [schema.type ?? "any value"].flat().join(" or ");
}

function resolve(schema: ApiSchema, document: ApiDocument): ApiSchema {
  return schema.$ref === undefined
    ? schema
    : resolve(document.components!.schemas![lastPart(schema.$ref)]!, document);
}

function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function code(text: string): string {
  return `\`${text}\``;
}
