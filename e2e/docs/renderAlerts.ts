import { parse } from "yaml";
import { readText } from "../ops/repository";

interface Rule {
  alert?: string;
  for?: string;
  labels?: { severity: string };
  annotations?: { summary: string };
}

/** Renders docs/operate/alerts.md: every alert with its runbook. */
export function renderAlerts(): string {
  const { groups } = parse(readText("deploy/prometheus/rules/alerts.yaml")) as {
    groups: { name: string; rules: Rule[] }[];
  };
  const sections = groups.map(({ name, rules }) => {
    const rows = rules
      .filter(({ alert }) => alert !== undefined)
      .map(
        (rule) =>
          `| [${rule.alert}](../runbooks/${rule.alert}.md) | ${rule.labels!.severity} | ${readable(rule.annotations!.summary)} |`,
      );
    return `## ${name}\n\n| Alert | Severity | Summary |\n|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `<!-- Generated from deploy/prometheus/rules/alerts.yaml by npm run docs; do not edit. -->

# Alerts and runbooks

Each alert has a runbook with the same four parts: the meaning, the affected users, the places to
look at, and the remedy. A critical alert wakes a person. A warning can wait for working hours.

${sections.join("\n")}`;
}

/** Prometheus fills in `{{ $labels.job }}`; a reader of the page sees the label's name. */
function readable(summary: string): string {
  return summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => `*${label.replaceAll("_", " ")}*`)
    .replaceAll(/\{\{[^}]*\}\}/g, "*n*");
}
