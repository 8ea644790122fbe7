import { type DocumentedMetric, declaredMetrics } from "../ops/metrics";

/** Renders docs/metrics.md from the sources that declare the metrics. */
export function renderMetrics(): string {
  const metrics = declaredMetrics();
  const homes = [...new Set(metrics.map(({ by }) => by))];
  const sections = homes.map((home) => {
    const rows = metrics.filter(({ by }) => by === home).map(renderRow);
    const title = home === "all" ? "Every process" : home;
    return `## ${title}\n\n| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `# Metrics

Generated from the sources by \`npm run docs\`; do not edit.

Each process answers \`/metrics\` on its operators' port, including prom-client's metrics of Node
and of the process (\`nodejs_*\`, \`process_*\`). Prometheus calls the process \`job\`, so a background
job is a \`job_name\`. Each alert in [alerts.yaml](../deploy/prometheus/rules/alerts.yaml) has a
runbook in [runbooks](runbooks).

${sections.join("\n")}`;
}

function renderRow({ name, type, help, labels }: DocumentedMetric): string {
  return `| \`${name}\` | ${type.toLowerCase()} | ${labels.join(", ")} | ${help} |`;
}
