import { join } from "node:path";
import ts from "typescript";
import { resolve, type Schema } from "./document.ts";

// Renders a JSON schema and a TypeScript type in the same notation, so that text can be compared.

const PACKAGE = join(__dirname, "../..");
const NULL = "null";

/** The shape of what a schema describes. */
export function shapeOfSchema(given: Schema): string {
  const { $ref: _ref, ...schema } = resolve(given);
  if (schema.allOf) return union(["null", shapeOfSchema(schema.allOf[0]!)]);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants) return union(variants.map(shapeOfSchema));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "unknown"];
  return union(types.map((type) => shapeOfOne(schema, type)));
}

function shapeOfOne(schema: Schema, type: string): string {
  switch (type) {
    case "integer":
      return "number";
    case "array":
      return `${shapeOfSchema(schema.items!)}[]`;
    case "object":
      return schema.properties
        ? objectShape(
            Object.entries(schema.properties).map(([name, one]) => ({
              name,
              isOptional: !schema.required?.includes(name),
              shape: shapeOfSchema(one),
            })),
          )
        : `Record<${shapeOfSchema(schema.additionalProperties as Schema)}>`;
    default:
      return type;
  }
}

/** Reads the types of a method's request and answer. */
export function libraryShapes() {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(PACKAGE, "tsconfig.esm.json"), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    PACKAGE,
  );
  const file = join(PACKAGE, "src/client.ts");
  const program = ts.createProgram([file], { ...options, composite: false, noEmit: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file)!;
  const client = source.statements.find(
    (node): node is ts.ClassDeclaration => ts.isClassDeclaration(node) && node.name?.text === "ServiceClient",
  )!;

  function method(path: string): ts.Signature {
    let type = checker.getTypeAtLocation(client);
    for (const name of path.split(".")) type = checker.getTypeOfSymbol(type.getProperty(name)!);
    return type.getCallSignatures()[0]!;
  }

  function shapeOf(type: ts.Type): string {
    if (type.flags & ts.TypeFlags.Boolean) return "boolean";
    if (type.isUnion()) {
      const members = type.types.filter((one) => !isNothing(one)).map(shapeOf);
      // An optional boolean is a union of three types.
      const isBoolean = ["true", "false"].every((one) => members.includes(one));
      const others = members.filter((one) => !isBoolean || !["true", "false"].includes(one));
      return union(isBoolean ? [...others, "boolean"] : others);
    }
    if (type.isStringLiteral()) return JSON.stringify(type.value);
    const name = checker.typeToString(type);
    if (name === "Date") return "string";
    if (!(type.flags & ts.TypeFlags.Object) && !type.isIntersection()) return name;
    if (checker.isArrayType(type))
      return `${shapeOf(checker.getTypeArguments(type as ts.TypeReference)[0]!)}[]`;
    const values = checker.getIndexInfosOfType(type)[0];
    if (values) return `Record<${shapeOf(values.type)}>`;
    return objectShape(
      type
        .getProperties()
        .map((property) => ({ property, type: checker.getTypeOfSymbol(property) }))
        .filter((one) => !isNothing(one.type) && !isMethod(one.type) && !one.property.name.startsWith("__"))
        .map((one) => ({
          name: one.property.name,
          isOptional: Boolean(one.property.flags & ts.SymbolFlags.Optional),
          shape: shapeOf(one.type),
        })),
    );
  }

  return {
    /** Type of the data that a method resolves with. */
    answer: (path: string) =>
      shapeOf(checker.getAwaitedType(checker.getReturnTypeOfSignature(method(path)))!),
    /** The parameter that is sent: the one named `request` or `query`. */
    request(path: string): string {
      const parameter = method(path).parameters.find(({ name }) => name === "request" || name === "query")!;
      return shapeOf(checker.getTypeOfSymbol(parameter));
    },
  };
}

function isNothing(type: ts.Type): boolean {
  return Boolean(type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never));
}

function isMethod(type: ts.Type): boolean {
  return type.getCallSignatures().length > 0;
}

interface Property {
  name: string;
  isOptional: boolean;
  shape: string;
}

function objectShape(properties: Property[]): string {
  const lines = properties.map(({ name, isOptional, shape }) => `${name}${isOptional ? "?" : ""}: ${shape}`);
  return `{ ${lines.sort().join("; ")} }`;
}

function union(shapes: string[]): string {
  const distinct = [...new Set(shapes)].sort((a, b) => (a === NULL ? 1 : b === NULL ? -1 : a < b ? -1 : 1));
  return distinct.join(" | ");
}
