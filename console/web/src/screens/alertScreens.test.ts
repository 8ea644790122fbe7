import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ALERT_NAMES, screenOfAlert } from "./alertScreens";

const RULES = join(__dirname, "../../../../deploy/prometheus/rules/alerts.yaml");

test("every alert with a screen exists once in the rules", () => {
  const names = [...readFileSync(RULES, "utf8").matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  expect(ALERT_NAMES.filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(ALERT_NAMES).size).toBe(ALERT_NAMES.length);
});

test.each([
  ["OperationsBlocked", "/settlement"],
  ["BooksDiffer", "/reconciliation"],
  ["ProcessDown", "/system"],
  ["an alert of a later release", "/system"],
])("%s leads to %s", (name, screen) => {
  expect(screenOfAlert(name)).toBe(screen);
});
