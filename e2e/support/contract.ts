import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import { readText } from "../ops/repository";

/** An answer that gateway/openapi.json does not promise. */
export class ContractViolation extends Error {}

interface DocumentedResponse {
  content: { "application/json": { schema: object; examples?: Record<string, unknown> } };
}
type PathItem = Record<string, { responses: Record<string, DocumentedResponse> }>;

const document = JSON.parse(readText("gateway/openapi.json")) as {
  paths: Record<string, PathItem>;
  components: object;
};
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const formats = { "date-time": DATE_TIME, int64: true } as const;
const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
ajv.addSchema({ $id: "document", components: closed(document.components) });
const compiled = new Map<object, ValidateFunction>();

/**
 * Checks an answer against the document: a status of the operation, a body of that status's schema,
 * and a documented error code. Undocumented paths must get a plain refusal.
 */
export function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  const operation = pathItemOf(path)?.[method.toLowerCase()];
  const where = `${method} ${path} answered ${status}`;
  // The API's description documents 431: the server answers before it knows the route.
  if (status === 431) return checkSchema(where, REFUSAL, body);
  if (!operation) {
    // A path that cannot be decoded is refused before its operation is known.
    const isExpected = [404, 405].includes(status) || (status === 400 && !isDecodable(path));
    if (!isExpected) throw new ContractViolation(`${where} at an undocumented place`);
    return checkSchema(where, REFUSAL, body);
  }
  const content = operation.responses[status]?.content["application/json"];
  if (!content) throw new ContractViolation(`${where}, which the document does not have`);
  checkSchema(where, content.schema, body);
  const code = (body as { error: { code: string } | null }).error?.code;
  if (code !== undefined && !(code in (content.examples ?? {})))
    throw new ContractViolation(`${where} with ${code}, which the operation is not documented to answer`);
}

const REFUSAL = { $ref: "#/components/schemas/Refusal" };

function checkSchema(where: string, schema: object, body: unknown): void {
  let validate = compiled.get(schema);
  if (!validate) compiled.set(schema, (validate = ajv.compile(inDocument(schema))));
  if (validate(body)) return;
  throw new ContractViolation(`${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
}

/** Closes the schemas of answers: partners must accept new fields, these tests must not. */
function closed<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    const isObject = typeof value === "object" && value !== null && "properties" in value;
    return isObject && "type" in value ? { additionalProperties: false, ...value } : value;
  }) as T;
}

/** References lead to the whole document. */
function inDocument(schema: object): object {
  return JSON.parse(
    JSON.stringify(closed(schema)).replaceAll('"#/components', '"document#/components'),
  ) as object;
}

/** A literal path precedes one with a parameter. */
function pathItemOf(path: string): PathItem | undefined {
  const parts = path.split("?")[0]!.split("/");
  const fits = (template: string) => {
    const wanted = template.split("/");
    return (
      wanted.length === parts.length &&
      wanted.every((part, at) => part === parts[at] || (part.startsWith("{") && parts[at] !== ""))
    );
  };
  const found = Object.keys(document.paths).filter(fits);
  found.sort((one, other) => parametersIn(one) - parametersIn(other));
  return found[0] === undefined ? undefined : document.paths[found[0]];
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path.split("?")[0]!);
    return true;
  } catch {
    return false;
  }
}

function parametersIn(template: string): number {
  return template.split("{").length - 1;
}
