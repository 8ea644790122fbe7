#!/usr/bin/env node
// npm run observe [-- --check]: starts Prometheus with our rules for the running local stack, until
// Ctrl-C. The console's Home shows its alerts. With --check, the command runs the query of every
// dashboard panel after the first scrapes, prints the panels without data, and exits with 1 if there
// is one. Play the demo first.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { URLSearchParams, fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = process.env.WONRAIL_HOME ?? join(root, ".wonrail");
const SCRAPE_SECONDS = 2;
const DATA_AFTER_MS = 30_000;
const READY_MS = 30_000;

const stackFile = join(home, "stack.json");
if (!existsSync(stackFile)) fail("No stack is running. Start one with make up in another terminal.");
const prometheus = findPrometheus();
if (prometheus === undefined)
  fail(
    "Prometheus is not on the PATH. On Debian: apt-get install prometheus. With containers: deploy/compose.yaml brings it along.",
  );

const { services, gatewayUrl, prometheusUrl: url } = JSON.parse(readFileSync(stackFile, "utf8"));
const folder = join(home, "prometheus");
mkdirSync(folder, { recursive: true });
const configFile = join(folder, "prometheus.json");
writeFileSync(configFile, JSON.stringify(configuration(services), null, 2));
writeRules();

const child = spawn(
  prometheus,
  [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=${new URL(url).host}`,
    "--storage.tsdb.retention.time=1d",
    "--log.level=warn",
  ],
  { stdio: ["ignore", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => child.kill("SIGTERM"));
child.once("exit", (code) => process.exit(process.exitCode ?? code ?? 0));

await untilReady();
console.log(`Prometheus   ${url}\nAlerts       ${url}/alerts`);
if (process.argv.includes("--check")) {
  await sleep(DATA_AFTER_MS);
  process.exitCode = await checkPanels();
  child.kill("SIGTERM");
} else {
  console.log(
    "Dashboards   deploy/grafana/dashboards, for any Grafana with this as its datasource\nStop with Ctrl-C.",
  );
}

/** JSON is YAML. */
function configuration(entries) {
  return {
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, evaluation_interval: "5s" },
    rule_files: [join(folder, "*.yaml")],
    scrape_configs: Object.entries(entries).map(([name, { ops }]) => ({
      job_name: name,
      static_configs: [{ targets: [ops] }],
    })),
  };
}

/** Our rules, with runbooks at the documentation that the gateway serves. */
function writeRules() {
  const rules = join(root, "deploy/prometheus/rules");
  for (const file of readdirSync(rules)) {
    const text = readFileSync(join(rules, file), "utf8");
    const runbooks = text.replaceAll(/runbook_url: (docs\/\S+)\.md/g, `runbook_url: ${gatewayUrl}/$1.html`);
    writeFileSync(join(folder, file), runbooks);
  }
}

async function checkPanels() {
  const boards = join(root, "deploy/grafana/dashboards");
  let wrong = 0;
  for (const file of readdirSync(boards).sort()) {
    for (const panel of JSON.parse(readFileSync(join(boards, file), "utf8")).panels) {
      for (const { expr } of panel.targets) {
        const { error, series } = await query(expr);
        if (error !== undefined || series === 0) wrong += 1;
        const state = error ?? (series === 0 ? "no data" : `${series} series`);
        if (error !== undefined || series === 0)
          console.log(`${file}  ${panel.title}: ${state}\n    ${expr}`);
      }
    }
  }
  const alerts = (await (await fetch(`${url}/api/v1/alerts`)).json()).data.alerts;
  for (const { labels, state } of alerts) console.log(`alert ${labels.alertname} is ${state}`);
  return wrong === 0 ? 0 : 1;
}

async function query(expression) {
  const text = expression
    .replaceAll("$__rate_interval", "1m")
    .replaceAll("$job", ".*")
    .replaceAll("$instance", ".*");
  const { status, error, data } = await (
    await fetch(`${url}/api/v1/query`, { method: "POST", body: new URLSearchParams({ query: text }) })
  ).json();
  return status === "success" ? { series: data.result.length } : { error };
}

async function untilReady() {
  for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += 200) {
    const ready = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await sleep(200);
  }
  child.kill("SIGKILL");
  fail("Prometheus did not become ready; what it said is above.");
}

function findPrometheus() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return [...(process.env.PATH ?? "").split(":"), join(cache, "wonrail/bin")]
    .map((place) => join(place, "prometheus"))
    .find((path) => existsSync(path));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
