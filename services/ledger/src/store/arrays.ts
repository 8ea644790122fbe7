/** The text of an array whose elements need no quotes: numbers and hex digits. At a thousand rows a batch it shows. */
export function braces(values: readonly (number | bigint | string)[]): string {
  return `{${values.join(",")}}`;
}

/** The 32 hex digits of an id, which Postgres takes as a uuid as well as the form with hyphens. */
export function hexOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}
