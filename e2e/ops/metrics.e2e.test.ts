import { type TestStack, startStack } from "../support/startStack";
import { declaredMetrics, runtimeMetrics } from "./metrics";
import { PROCESSES } from "./repository";

let stack: TestStack;
beforeAll(async () => void (stack = await startStack({ bus: "postgres", mtls: true })), 480_000);
afterAll(async () => void (await stack.stop()), 120_000);

const declared = declaredMetrics();
const runtime = new Set(runtimeMetrics());

test.each(PROCESSES.map(({ name }) => name))(
  "%s exports what docs/metrics.md says, and nothing else",
  async (name) => {
    const response = await fetch(`http://${stack.stack().services[name]!.ops}/metrics`);
    const exported = [...(await response.text()).matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!);
    const own = declared.filter(({ by }) => by === name).map((metric) => metric.name);
    const shared = declared.filter(({ by }) => by === "all").map((metric) => metric.name);
    expect(own.filter((metric) => !exported.includes(metric))).toEqual([]);
    const documented = new Set([...own, ...shared, ...runtime]);
    expect(exported.filter((metric) => !documented.has(metric))).toEqual([]);
  },
);

test("what the kit measures is exported by some process", async () => {
  const texts = await Promise.all(
    PROCESSES.map(async ({ name }) =>
      (await fetch(`http://${stack.stack().services[name]!.ops}/metrics`)).text(),
    ),
  );
  const missing = declared.filter(
    ({ by, name }) => by === "all" && !texts.some((text) => text.includes(`# TYPE ${name} `)),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});
