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
  title: string;
  description: string;
  fieldConfig: { defaults: { unit: string } };
  targets: { expr: string; legendFormat?: string }[];
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

/** Every expression that alerts, rules and dashboards ask. */
export function expressions(): string[] {
  const rules = [...rulesOf("alerts.yaml"), ...rulesOf("recording.yaml")];
  const panels = BOARDS.flatMap((file) => boardOf(file).panels);
  return [...rules, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
}
