import { spawnSync } from "node:child_process";
import { readText } from "./repository";
import { readTour } from "./readTour";

test("the tour of the README is valid shell that needs only Node and curl", () => {
  const tour = readTour();
  expect(spawnSync("bash", ["-n"], { input: tour, encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
  const programs = [...tour.matchAll(/(?:^|\$\(|&& |\{ ) *([a-z]+)(?=[ )])/gm)].map(
    ([, program]) => program!,
  );
  expect(programs).toContain("curl");
  const known = ["curl", "date", "echo", "node", "pick", "send", "stack"];
  expect([...new Set(programs)].filter((program) => !known.includes(program))).toEqual([]);
});

test("the tour pastes each id itself, and finds the key of the running stack", () => {
  const tour = readTour();
  expect(tour).not.toMatch(/…|wal_|pay_|wk_/);
  expect(tour).toContain("${WONRAIL_HOME:-.wonrail}/stack.json");
});

test("the README has at most 150 lines", () => {
  expect(readText("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});
