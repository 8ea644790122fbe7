import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { declaredMetrics, labelsAskedIn, labelsBySeries, metricsNamedIn, seriesNames } from "./metrics";
import { DEPLOYED, PROCESSES, ROOT, readText } from "./repository";
import { BOARDS, boardOf, colourAt, expressions, type Panel, quantityOf, rulesOf, unitsFor } from "./rules";

const recorded = rulesOf("recording.yaml");
const alerts = rulesOf("alerts.yaml");
const cases = (parse(readText("deploy/prometheus/tests/alerts.yaml")) as { tests: { name: string }[] }).tests;
const runbooks = readdirSync(join(ROOT, "docs/runbooks")).map((file) => file.replace(/\.md$/, ""));
const known = new Set([...seriesNames(), ...recorded.map(({ record }) => record!)]);
const unknownIn = (expression: string) =>
  metricsNamedIn(expression).filter((name) => !known.has(name) && !LABELS.has(name));
/** Words of an expression that are neither metric nor function. */
const LABELS = new Set(["le"]);
/** Labels that the scraper adds. */
const SCRAPED = ["job", "instance", "namespace"];
const labelled = labelsBySeries();
for (const { record, expr } of recorded)
  labelled.set(record!, new Set(labelsAskedIn(expr).map(({ label }) => label)));
const has = (series: string, label: string) =>
  SCRAPED.includes(label) || (labelled.get(series)?.has(label) ?? false);
/**
 * Labels that no series of the expression has: the expression would find nothing, or merge
 * everything.
 */
const strangeLabelsIn = (expression: string) =>
  labelsAskedIn(expression)
    .filter(({ series, label }) => !has(series, label))
    .map(({ series, label }) => `${series}{${label}}`);
/** Labels that a text uses and the expression does not return. */
const unfilledIn = (text: string, pattern: RegExp, expression: string) =>
  [...text.matchAll(pattern)]
    .map((match) => match[1]!)
    .filter((label) => !metricsNamedIn(expression).some((series) => has(series, label)));

test("finds the metrics of every process", () => {
  const by = new Set(declaredMetrics().map((metric) => metric.by));
  expect([...by]).toEqual(["all", ...DEPLOYED.map(({ name }) => name)]);
  expect(declaredMetrics().filter(({ help }) => help === "")).toEqual([]);
  expect(metricsNamedIn('sum by (job) (rate(a_total{x="y"}[5m])) / max(b) > 0.5 and c offset 5m')).toEqual([
    "a_total",
    "b",
    "c",
  ]);
});

test("finds the labels of an expression, and the metrics that lack them", () => {
  const expression =
    'sum by (name) (rate(circuit_breaker_events_total{job="a",event=~"open|close"}[2m])) > 0';
  const series = "circuit_breaker_events_total";
  expect(labelsAskedIn(expression)).toEqual([
    { series, label: "job", values: ["a"] },
    { series, label: "event", values: ["open", "close"] },
    { series, label: "name", values: [] },
  ]);
  expect(strangeLabelsIn(expression)).toEqual([]);
  expect(strangeLabelsIn('max by (peer) (circuit_breaker_state{mode="open"})')).toEqual([
    "circuit_breaker_state{mode}",
    "circuit_breaker_state{peer}",
  ]);
  expect(strangeLabelsIn("sum(rate(batch_queue_wait_seconds_sum[1m])) by (le)")).toEqual([
    "batch_queue_wait_seconds_sum{le}",
  ]);
});

test("queries select processes by their job name", () => {
  const jobs = expressions().flatMap((expression) =>
    labelsAskedIn(expression).flatMap(({ label, values }) => (label === "job" ? values : [])),
  );
  expect([...new Set(jobs)].sort()).toEqual(PROCESSES.map(({ name }) => name).sort());
});

describe.each(alerts.map((rule) => [rule.alert!, rule] as const))(
  "alert %s",
  (name, { expr, labels, annotations }) => {
    it("the alert names only exported metrics and has a severity, a runbook and a case", () => {
      expect([...unknownIn(expr), ...strangeLabelsIn(expr)]).toEqual([]);
      expect(unfilledIn(JSON.stringify(annotations), /\$labels\.(\w+)/g, expr)).toEqual([]);
      expect(metricsNamedIn(expr).length).toBeGreaterThan(0);
      expect(labels!.severity).toMatch(/^(critical|warning)$/);
      expect(annotations).toMatchObject({ summary: expect.any(String), description: expect.any(String) });
      expect(annotations!.runbook_url).toBe(`docs/runbooks/${name}.md`);
      expect(cases.map((each) => each.name)).toContain(name);
      const runbook = readText(`docs/runbooks/${name}.md`);
      expect(runbook.match(/^## .+$/gm)).toEqual(["## Meaning", "## Impact", "## Diagnosis", "## Remedy"]);
    });
  },
);

test("every runbook has an alert, and names only exported metrics and existing alerts", () => {
  const names = alerts.map(({ alert }) => alert!);
  expect(runbooks.sort()).toEqual([...names].sort());
  const families = new Set(declaredMetrics().map(({ name }) => name));
  for (const runbook of runbooks) {
    const spans = [...readText(`docs/runbooks/${runbook}.md`).matchAll(/`([^`]+)`/g)].map(
      (match) => match[1]!,
    );
    const metrics = spans.filter(
      (span) => /^[a-z_:0-9]+(\{.*\})?$|^(sum|max|min|rate)/.test(span) && span.includes("_"),
    );
    const strangers = metrics
      .flatMap(unknownIn)
      .filter((name) => !families.has(name) && !NOT_METRICS.has(name));
    expect({ runbook, strangers }).toEqual({ runbook, strangers: [] });
  }
});
/** Names of jobs, tables, columns, settings and reasons, which look alike. */
const NOT_METRICS = new Set([
  "max_connections",
  "synchronous_standby_names",
  "synchronous_commit",
  "dead_letters",
  "settle_transfers",
  "credit_deposits",
  "freeze_blocked_wallets",
  "scan_finalized",
  "verify_accounts",
  "verify_journal",
  "prune_keys",
  "write_postings",
  "name_in_use",
  "held_up",
  "verify_audit",
  "reopen_wallets",
  "entries_2026_05",
  "scheduled_too_long_ago",
  "payment_manager_replaced",
  "name_taken",
  "queue_paused",
  "custody_malformed",
  "nonce_unclear",
  "chain_relayer",
  "org_id",
  "related_id",
  "wait_reason",
  "pg_stat_activity",
  "max_connections",
  "signer_out_of_gas",
  "facilitator_gas_limit_reached",
  "max_wal_size",
  "min_wal_size",
]);

test("recording rules name only exported metrics", () => {
  expect(recorded.flatMap(({ expr }) => [...unknownIn(expr), ...strangeLabelsIn(expr)])).toEqual([]);
  expect(
    recorded.map(({ record }) => record!).filter((record) => !/^[a-z_]+:[a-z0-9_]+:[a-z0-9_]+$/.test(record)),
  ).toEqual([]);
});

describe.each(BOARDS)("dashboard %s", (file) => {
  const board = boardOf(file);

  it("is stable and takes its datasource, process and instance from variables", () => {
    expect(board).toMatchObject({ uid: `wonrail-${file.replace(".json", "")}`, editable: false });
    expect(board.templating.list.map(({ name }) => name)).toEqual(["datasource", "job", "instance"]);
    const sources = JSON.stringify(board).match(/"uid":"[^"]+"/g)!;
    expect(new Set(sources.slice(1))).toEqual(new Set(['"uid":"${datasource}"']));
  });

  it.each(board.panels.map((panel) => [panel.title, panel] as const))(
    "%s has words, a unit, and metrics that are exported",
    (_, panel) => {
      expect(panel.description).not.toBe("");
      expect(panel.fieldConfig.defaults.unit).not.toBe("");
      for (const { expr, legendFormat = "" } of panel.targets) {
        expect([...unknownIn(expr), ...strangeLabelsIn(expr)]).toEqual([]);
        expect(unfilledIn(legendFormat, /\{\{ *(\w+) *\}\}/g, expr)).toEqual([]);
        expect(expr).not.toMatch(/\[\d/);
        if (!expr.includes(":")) expect(expr).toContain('job=~"$job",instance=~"$instance"');
      }
    },
  );
});

describe.each(BOARDS.flatMap((file) => boardOf(file).panels.map((panel) => [panel.title, panel] as const)))(
  "panel %s",
  (_, panel) => {
    it("shows one quantity with its unit", () => {
      const quantities = [...new Set(panel.targets.map(({ expr }) => quantityOf(expr)))];
      expect(quantities).toHaveLength(1);
      expect(unitsFor(quantities[0]!)).toContain(panel.fieldConfig.defaults.unit);
    });
  },
);

const stats = BOARDS.flatMap((file) => boardOf(file).panels).filter(({ type }) =>
  /^(stat|gauge)$/.test(type),
);
test.each(stats.map((panel) => [panel.title, panel] as const))(
  "the single number %s is green at 0 and red at 1",
  (_, panel) => {
    const thresholds = panel.fieldConfig.defaults.thresholds!;
    expect([0, 1].map((value) => colourAt(thresholds, value))).toEqual(["green", "red"]);
  },
);

test("values that must be 0 for money to be safe are single numbers with thresholds", () => {
  const mustBeZero = ["invariant_violations", "reconciliation_open_drifts", "operator_role_missing"];
  const shows = (panel: Panel, metric: string) => panel.targets.some(({ expr }) => expr.includes(metric));
  expect(mustBeZero.filter((metric) => !stats.some((panel) => shows(panel, metric)))).toEqual([]);
});

test("a panel that shows a ratio over days names that window in its title", () => {
  const windows = BOARDS.flatMap((file) => boardOf(file).panels).flatMap(({ title, targets }) =>
    targets.flatMap(({ expr }) =>
      [...expr.matchAll(/_rate([0-9]+)d\b/g)].map(([, days]) => ({ title, days: days! })),
    ),
  );
  expect(windows.length).toBeGreaterThan(0);
  for (const { title, days } of windows) expect(title).toContain(`last ${days} days`);
});

test("panel titles are unique in a dashboard", () => {
  for (const file of BOARDS) {
    const titles = boardOf(file).panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  }
});

test("a partition's messages are counted once, although every replica of the group reports them", () => {
  const asked = expressions().filter((expr) => expr.includes("consumer_lag_messages"));
  expect(asked.length).toBeGreaterThan(0);
  for (const expr of asked)
    expect(expr).toContain("(max by (group, topic, partition) (consumer_lag_messages");
});

test("Prometheus knows each process by its name, on its common port", () => {
  const { scrape_configs } = parse(readText("deploy/prometheus/prometheus.yaml")) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  expect(
    scrape_configs.map(({ job_name, static_configs }) => [job_name, static_configs[0]!.targets]),
  ).toEqual(DEPLOYED.map(({ name }) => [name, [`${name}:7200`]]));
});
