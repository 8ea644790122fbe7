import { queryMomentOf } from "./schemas";
import { renderOpenApi } from "./renderOpenApi";

interface Parameter {
  in: string;
  name: string;
  example?: unknown;
}
const { paths } = JSON.parse(renderOpenApi()) as {
  paths: Record<string, Record<string, { parameters?: (Parameter | { $ref: string })[] }>>;
};
const inQueries = Object.values(paths)
  .flatMap((path) => Object.values(path))
  .flatMap(({ parameters = [] }) => parameters)
  .filter((parameter): parameter is Parameter => "in" in parameter && parameter.in === "query");

test("each example of a query keeps its value when it is pasted into a URL", () => {
  const pasted = inQueries.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]]));
  expect(pasted.length).toBeGreaterThan(5);
  for (const [name, example] of pasted as [string, string][])
    expect(new URLSearchParams(`${name}=${example}`).get(name)).toBe(example);
});

test("a timestamp whose plus sign became a space is refused with the encoding to use", () => {
  const { error } = queryMomentOf("").safeParse("2026-01-14T09:30:00 09:00");
  expect(error?.issues[0]?.message).toContain("%2B");
  expect(queryMomentOf("").parse("2026-01-14T09:30:00+09:00")).toEqual(new Date("2026-01-14T00:30:00Z"));
});
