import { nameOf, resolve, type Schema } from "./document.ts";

/** The Python type of a value in an answer. `inline` is the class of an object without a name. */
export function answerType(schema: Schema, inline: string): string {
  return typeOf(schema, (object) => (object.properties ? inline : dictionary(object, inline)), nameOf);
}

/** The Python type of an argument. Objects inside a body have JSON names. */
export function argumentType(schema: Schema): string {
  const object = (value: Schema) => (value.properties ? "Mapping[str, Any]" : `${dictionary(value, "")}`);
  const reference = (ref: string) => {
    const target = resolve({ $ref: ref });
    return target.enum ? `models.${nameOf(ref)}` : argumentType(target);
  };
  return (
    typeOf(schema, object, reference)
      .replaceAll("datetime", "datetime | str")
      // In a class with the method `list`, the name is that of the method.
      .replace(/\blist\[/g, "Sequence[")
  );
}

function typeOf(
  schema: Schema,
  object: (schema: Schema) => string,
  reference: (ref: string) => string,
): string {
  if (schema.$ref !== undefined) return reference(schema.$ref);
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives)
    return [...new Set(alternatives.map((one) => typeOf(one, object, reference)))].join(" | ");
  const types = [schema.type ?? "any"].flat();
  return types.map((type) => ofType(type)).join(" | ");

  function ofType(type: string): string {
    switch (type) {
      case "null":
        return "None";
      case "integer":
        return "int";
      case "number":
        return "float";
      case "boolean":
        return "bool";
      case "array":
        return `list[${typeOf(schema.items ?? {}, object, reference)}]`;
      case "object":
        return object(schema);
      case "string":
        return stringType(schema);
      default:
        return "Any";
    }
  }
}

function stringType({ enum: values, const: only, format }: Schema): string {
  const known = values?.filter((value) => value !== null) ?? (only === undefined ? undefined : [only]);
  if (known) return literal(known);
  return format === "date-time" ? "datetime" : "str";
}

export function literal(values: readonly unknown[]): string {
  return `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}

function dictionary({ additionalProperties }: Schema, inline: string): string {
  const isTyped = typeof additionalProperties === "object" && additionalProperties.type !== undefined;
  return `dict[str, ${isTyped ? answerType(additionalProperties, inline) : "Any"}]`;
}
