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
  return `<!-- Generated from the sources by npm run docs; do not edit. -->

# Metrics

Each process answers \`/metrics\` on its operators' port. prom-client adds the metrics of Node and of
the process (\`nodejs_*\`, \`process_*\`). Prometheus calls the process \`job\`, so a background job is a
\`job_name\`. [Alerts](../operate/alerts.md) lists the alerts with their runbooks.

${sections.join("\n")}`;
}

function renderRow({ name, type, help, labels }: DocumentedMetric): string {
  return `| \`${name}\` | ${type.toLowerCase()} | ${labels.join(", ")} | ${help} |`;
}
