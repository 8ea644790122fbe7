import { readText } from "../../ops/repository";
import { FAULTS } from "./faults";
import { describeSchedule, planSchedule } from "./schedule";

const OPTIONS = { seed: 7, faults: 60, kinds: FAULTS };

test("equal seeds give equal schedules, and another seed gives another one", () => {
  expect(planSchedule(OPTIONS)).toEqual(planSchedule(OPTIONS));
  expect(planSchedule({ ...OPTIONS, seed: 8 })).not.toEqual(planSchedule(OPTIONS));
});

test("a schedule has each kind before any kind comes twice", () => {
  const schedule = planSchedule({ ...OPTIONS, faults: FAULTS.length });
  expect(schedule.map(({ kind }) => kind).sort()).toEqual(FAULTS.map(({ name }) => name).sort());
});

test("faults begin in the order of their numbers and last as long as their kind allows", () => {
  const schedule = planSchedule(OPTIONS);
  expect(schedule.map(({ number }) => number)).toEqual([...Array(60).keys()].map((place) => place + 1));
  for (const { kind, begins, holdMs } of schedule) {
    const { holdMs: limits, isSlowToHeal } = FAULTS.find(({ name }) => name === kind)!;
    expect(begins).toBeGreaterThan(0);
    expect(begins).toBeLessThan(isSlowToHeal ? 0.5 : 0.95);
    expect(holdMs).toBeGreaterThanOrEqual(limits[0]);
    expect(holdMs).toBeLessThanOrEqual(limits[1]);
  }
  expect(schedule.map(({ begins }) => begins)).toEqual(
    schedule.map(({ begins }) => begins).sort((a, b) => a - b),
  );
});

test("a speed shortens the faults and changes nothing else", () => {
  const halved = planSchedule({ ...OPTIONS, speed: 2 });
  for (const [index, { holdMs, ...fault }] of planSchedule(OPTIONS).entries()) {
    expect(halved[index]).toMatchObject(fault);
    expect(Math.abs(halved[index]!.holdMs - holdMs / 2)).toBeLessThanOrEqual(1);
  }
});

test("there are at least sixteen kinds, each with its own name", () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  expect(FAULTS.length).toBeGreaterThanOrEqual(16);
});

test("the page lists every kind, and no other", () => {
  const [, table] = readText("docs/evidence/torture.md").split("| Kind | Effect |");
  const rows = table!.split("\n\n")[0]!.matchAll(/^\| (`.*?`) \|/gm);
  const listed = [...rows].flatMap(([, names]) =>
    [...names!.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
  );
  expect(listed.sort()).toEqual(FAULTS.map(({ name }) => name).sort());
});

test("a description has a line for each fault with its place, length and kind", () => {
  const fault = { number: 3, kind: "postgres-killed", begins: 0.25, holdMs: 1_500, seed: 1 };
  expect(describeSchedule([fault])).toBe("    3   25 %    1.5 s  postgres-killed");
});
