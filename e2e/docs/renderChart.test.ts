import { readValues, renderChart } from "./renderChart";

test("every value of the chart has a comment, and a value without one is reported", () => {
  expect(renderChart().split("## Values")[1]).not.toMatch(/\| *\|$/m);
  const text = "# -- How many\nreplicas: 2\nimage:\n  # -- Which\n  tag: a\n  registry: b\n";
  expect(() => readValues(text)).toThrow("values.yaml: image.registry has no comment");
  const list = "# -- Whom\nto:\n  - first: { a: b }\n    second: { c: d }\n# -- When\nafter: 3\n";
  expect(readValues(list).map(({ path, value }) => [path, value])).toEqual([
    ["to", "below"],
    ["after", "3"],
  ]);
  expect(readValues(text.replace("  registry: b\n", ""))).toEqual([
    { path: "replicas", value: "2", comment: "How many" },
    { path: "image.tag", value: "a", comment: "Which" },
  ]);
});
