import { createRegistry } from "@wonrail/kit/metrics";
import { createGauges } from "./gauges";

test("the newest block's age grows while no endpoint answers, from the process's start on", async () => {
  let nowMs = 1_000_000;
  const registry = createRegistry({ service: "", version: "", commit: "" });
  const gauges = createGauges(registry, () => nowMs);
  const age = async () => Number(/^chain_head_age_seconds (.*)$/m.exec(await registry.metrics())?.[1]);
  nowMs += 90_000;
  expect(await age()).toBe(90);
  gauges.headTime(1_088);
  expect(await age()).toBe(2);
  nowMs += 60_000;
  expect(await age()).toBe(62);
});
