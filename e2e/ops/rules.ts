import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, readText } from "./repository";

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { summary: string; description: string; runbook_url: string };
}

export interface Panel {
  type: string;
  title: string;
  description: string;
  fieldConfig: { defaults: { unit: string; thresholds?: Thresholds } };
  targets: { expr: string; legendFormat?: string }[];
}

export interface Thresholds {
  steps: { color: string; value: number | null }[];
}

export interface Board {
  uid: string;
  editable: boolean;
  schemaVersion: number;
  templating: { list: { name: string }[] };
  panels: Panel[];
}

export const BOARDS = readdirSync(join(ROOT, "deploy/grafana/dashboards"));

export function rulesOf(file: "alerts.yaml" | "recording.yaml"): Rule[] {
  const { groups } = parse(readText(`deploy/prometheus/rules/${file}`)) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function boardOf(file: string): Board {
  return JSON.parse(readText(`deploy/grafana/dashboards/${file}`)) as Board;
}

/** Grafana's colour of a value: that of the highest reached step. */
export function colourAt({ steps }: Thresholds, value: number): string {
  return steps.findLast((step) => step.value === null || step.value <= value)!.color;
}

/** Grafana's units by which a quantity may be shown. */
const UNITS: Record<string, string[]> = {
  seconds: ["s"],
  date: ["dateTimeFromNow"],
  bytes: ["bytes"],
  won: ["currencyKRW"],
  share: ["percentunit"],
  "per second": ["ops", "reqps"],
  number: ["none"],
  "block number": ["none"],
  coins: ["none"],
};

/** The quantity of an expression, by its functions and by the suffix of its metric. */
export function quantityOf(expr: string): string {
  if (expr.includes("start_time_seconds")) return "date";
  if (/_timestamp_seconds|histogram_quantile\(.*_seconds_bucket/.test(expr)) return "seconds";
  if (/^\(.*rate\(.*\/ sum\(rate\(/.test(expr)) return "share";
  if (/rate\(\w+_seconds_(sum|total)/.test(expr)) return "share";
  if (/rate\(.*\/ .*rate\(/.test(expr)) return "number";
  if (/\brate\(/.test(expr)) return "per second";
  if (/_seconds\b/.test(expr)) return "seconds";
  if (/_bytes\b/.test(expr)) return "bytes";
  if (/_won\b/.test(expr)) return "won";
  if (/_wei\b/.test(expr)) return "coins";
  return /\w+_head_block\b/.test(expr) ? "block number" : "number";
}

export function unitsFor(quantity: string): string[] {
  return UNITS[quantity]!;
}

/** Every expression of alerts, rules and dashboards. */
export function expressions(): string[] {
  const rules = [...rulesOf("alerts.yaml"), ...rulesOf("recording.yaml")];
  const panels = BOARDS.flatMap((file) => boardOf(file).panels);
  return [...rules, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
}
