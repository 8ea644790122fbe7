import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createRegistry } from "@wonrail/kit/metrics";
import { DEPLOYED, ROOT, readText } from "./repository";

export interface DocumentedMetric {
  name: string;
  type: "Counter" | "Gauge" | "Histogram";
  help: string;
  labels: string[];
  /** The exporting process, or "all" for metrics of the kit. */
  by: string;
}

/** Every metric that our sources declare, found in their text. */
export function declaredMetrics(): DocumentedMetric[] {
  const homes = [{ name: "all", folder: "kit" }, ...DEPLOYED];
  const found = homes.flatMap(({ name, folder }) =>
    sourcesOf(`${folder}/src`).flatMap((path) =>
      metricsIn(readText(path)).map((metric) => ({ ...metric, by: name })),
    ),
  );
  return found.sort((a, b) => order(a.by) - order(b.by) || a.name.localeCompare(b.name));
}

/** Metrics of prom-client about Node and the process. */
export function runtimeMetrics(): string[] {
  const registry = createRegistry({ service: "", version: "", commit: "" });
  return registry.getMetricsAsArray().map(({ name }) => name);
}

/** Series that a query may name: histograms and summaries have three. */
export function seriesNames(): Set<string> {
  const declared = declaredMetrics().flatMap(({ name, type }) =>
    type === "Histogram" ? withSuffixes(name) : [name],
  );
  return new Set([
    ...declared,
    ...runtimeMetrics().flatMap((name) => [name, ...withSuffixes(name)]),
    "up",
    "ALERTS",
  ]);
}

/**
 * Metrics named in a PromQL expression: its words without strings, label lists, functions and
 * keywords.
 */
export function metricsNamedIn(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, "")
    .replace(/\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, " ")
    .replace(/\{[^}]*\}/g, " ")
    .replace(/\[[^\]]*\]/g, " ");
  const found = bare.match(/(?<![0-9a-zA-Z_:])[a-zA-Z_:][a-zA-Z0-9_:]*(?![a-zA-Z0-9_:]| *\()/g) ?? [];
  return found.filter((word) => !/^(and|or|unless|bool|offset)$/.test(word));
}

/**
 * Labels that a PromQL expression requires of a series, in braces with their literal values or in a
 * `by` clause.
 */
export function labelsAskedIn(expression: string): { series: string; label: string; values: string[] }[] {
  const inBraces = [...expression.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, series, list]) =>
    [...list!.matchAll(/(\w+) *(?:=~|!~|!=|=) *"([^"]*)"/g)].map(([, label, value]) => ({
      series: series!,
      label: label!,
      values: value!.startsWith("$") ? [] : value!.split("|"),
    })),
  );
  const around = [...expression.matchAll(/\bby *\(([^)]*)\) */g)].flatMap((match) => {
    const start = match.index + match[0].length;
    // A clause behind its operand may refer to the whole expression.
    const about = expression[start] === "(" ? readToClosingBracket(expression, start) : expression;
    const labels = match[1]!.split(",").map((label) => label.trim());
    return metricsNamedIn(about).flatMap((series) => labels.map((label) => ({ series, label, values: [] })));
  });
  return [...inBraces, ...around];
}

/** Labels that the exporting process gives a series. */
export function labelsBySeries(): Map<string, Set<string>> {
  const runtime = createRegistry({ service: "", version: "", commit: "" }).getMetricsAsArray();
  const found = new Map<string, Set<string>>();
  for (const { name, labels } of [...declaredMetrics(), ...runtime.map(withLabels)])
    for (const series of [name, ...withSuffixes(name)]) {
      const bucket = series.endsWith("_bucket") ? ["le"] : [];
      found.set(series, new Set([...(found.get(series) ?? []), ...labels, ...bucket]));
    }
  return found;
}

const FIELD = (name: string) => new RegExp(`\\b${name}: *(?:"([^"]*)"|\`([^\`]*)\`)`);

function metricsIn(text: string): Omit<DocumentedMetric, "by">[] {
  const declared = [...text.matchAll(/new (Counter|Gauge|Histogram)(?:<[^>]*>)?\(\{/g)].flatMap((match) => {
    const body = readToClosingBracket(text, match.index + match[0].length - 1);
    const before = text.slice(Math.max(0, match.index - 900), match.index);
    const name = literal(body, "name") ?? lastOf(before, /shared\(\s*\w+,\s*["`]([^"`]+)["`]/g);
    const help = literal(body, "help") ?? lastOf(before, /const help =\s*["`]([^"`]+)["`]/g) ?? "";
    if (
      name === undefined ||
      (body.includes("collect()") && /\bhelp,/.test(body) && !/const help/.test(before))
    )
      return [];
    const labels = labelsOf(body, text.slice(0, match.index));
    const type = match[1] as DocumentedMetric["type"];
    return name.includes("${side}")
      ? ["server", "client"].map((side) => ({
          name: name.replace("${side}", side),
          type,
          help: help.replace("${side}", side),
          labels,
        }))
      : [{ name, type, help, labels }];
  });
  // A function of the pool creates its gauges, with its own labels.
  const gauges = [...text.matchAll(/\bgauge\("(\w+)", "([^"]+)"/g)].map(([, name, help]) => ({
    name: name!,
    type: "Gauge" as const,
    help: help!,
    labels: ["schema"],
  }));
  return [...declared.filter(({ name }) => !gauges.some((gauge) => gauge.name === name)), ...gauges];
}

function labelsOf(body: string, before: string): string[] {
  const own = /\blabelNames: *\[([^\]]*)\]/.exec(body)?.[1];
  if (own !== undefined) return words(own);
  if (!/\blabelNames\b/.test(body)) return [];
  const shared = words(lastOf(before, /labelNames = \[([^\]]*)\]/g) ?? "");
  const variable = /\blabelNames: (\w+)/.exec(body)?.[1];
  if (variable === undefined) return shared;
  return [
    ...shared,
    ...words(lastOf(before, new RegExp(`${variable} = \\[\\.\\.\\.labelNames,([^\\]]*)\\]`, "g")) ?? ""),
  ];
}

function words(list: string): string[] {
  return [...list.matchAll(/"(\w+)"/g)].map((match) => match[1]!);
}

function literal(body: string, field: string): string | undefined {
  const match = FIELD(field).exec(body);
  return match?.[1] ?? match?.[2];
}

function lastOf(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

/** The text from a bracket to its closing one. */
function readToClosingBracket(text: string, start: number): string {
  const open = text[start];
  const close = open === "(" ? ")" : "}";
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    if (text[index] === open) depth += 1;
    if (text[index] === close) depth -= 1;
    if (depth === 0) return text.slice(start, index + 1);
  }
  return text.slice(start);
}

/** prom-client keeps the names of the labels, and its types do not say so. */
function withLabels(metric: { name: string; labelNames?: string[] }) {
  return { name: metric.name, labels: metric.labelNames ?? [] };
}

function withSuffixes(name: string): string[] {
  return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
}

function order(by: string): number {
  return by === "all" ? -1 : DEPLOYED.findIndex(({ name }) => name === by);
}

function sourcesOf(folder: string): string[] {
  return (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((path) => path.endsWith(".ts") && !/(test|testing)\.ts$|(^|\/)testing\//.test(path))
    .sort()
    .map((path) => `${folder}/${path}`);
}
