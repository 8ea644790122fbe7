import { createApiKey } from "@wonrail/kit/contract/apiKey";
import { eventually } from "@wonrail/kit/testing";
import { openApi } from "../support/api";
import { useSharedStack } from "../support/sharedStack";
import { declaredMetrics, labelsAskedIn, runtimeMetrics } from "./metrics";
import { DEPLOYED } from "./repository";
import { expressions } from "./rules";

const stack = useSharedStack();

const declared = declaredMetrics();
const runtime = new Set(runtimeMetrics());

test.each(DEPLOYED.map(({ name }) => name))(
  "%s exports what docs/reference/metrics.md says, and nothing else",
  async (name) => {
    const exported = [...(await scrape(name)).matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!);
    const own = declared.filter(({ by }) => by === name).map((metric) => metric.name);
    const shared = declared.filter(({ by }) => by === "all").map((metric) => metric.name);
    expect(own.filter((metric) => !exported.includes(metric))).toEqual([]);
    const documented = new Set([...own, ...shared, ...runtime]);
    expect(exported.filter((metric) => !documented.has(metric))).toEqual([]);
  },
);

/** failover.int.test.ts reads the metric of a stand-by (DATABASE_STANDBY). */
const OF_STANDBY = "pg_waits_for_standby";
/** Only a process with Kafka has them. */
const OF_KAFKA = ["bus_publish_seconds", "bus_published_total", "bus_rebalances_total"];

test("each kit metric is exported by at least one process", async () => {
  const texts = await Promise.all(DEPLOYED.map(({ name }) => scrape(name)));
  const missing = declared.filter(
    ({ by, name }) => by === "all" && !texts.some((text) => text.includes(`# TYPE ${name} `)),
  );
  const { bus } = stack.stack();
  expect(missing.map(({ name }) => name)).toEqual([...(bus.kind === "feed" ? OF_KAFKA : []), OF_STANDBY]);
});

/** Label values that occur only during faults. */
const FAULT_LABELS: Record<string, string[]> = {
  status_class: ["5xx", "aborted"],
  code: ["WAUTH_002"],
  grpc_code: ["Unknown", "Internal", "Unavailable", "DataLoss", "DeadlineExceeded"],
};

test("labels in alerts, rules and dashboards exist, or a label of the same kind", async () => {
  const { gatewayUrl, organisations } = stack.stack();
  const api = openApi(gatewayUrl, organisations[0]!.apiKey);
  expect((await api.call("GET", "/api/wallets")).status).toBe(200);
  const stranger = createApiKey("test").text;
  expect((await api.call("GET", "/api/wallets", undefined, { key: stranger })).status).toBe(401);
  await readStreams(gatewayUrl, organisations[0]!.apiKey);
  const asked = expressions()
    .flatMap(labelsAskedIn)
    .filter(({ label, values }) => label !== "job" && values.length > 0);
  expect(asked.length).toBeGreaterThan(10);
  await eventually(
    async () => {
      const samples = (await Promise.all(DEPLOYED.map(({ name }) => scrape(name)))).join("\n");
      expect(asked.flatMap((each) => missingIn(samples, each))).toEqual([]);
    },
    // A job that failed while the stack started is retried after a minute.
    { timeoutMs: 120_000, intervalMs: 500 },
  );
}, 240_000);

function missingIn(samples: string, { series, label, values }: ReturnType<typeof labelsAskedIn>[number]) {
  const lines = samples.split("\n").filter((line) => line.startsWith(`${series}{`));
  const found = new Set(
    lines.flatMap((line) => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.slice(1) ?? []),
  );
  const wanted = values.filter((value) => !FAULT_LABELS[label]?.includes(value));
  return found.size === 0
    ? [`${series}{${label}}`]
    : wanted.filter((value) => !occurs(value, found)).map((value) => `${series}{${label}="${value}"}`);
}

/** A rule may name the values by an expression. */
function occurs(value: string, found: Set<string>): boolean {
  return [...found].some((one) => new RegExp(`^(?:${value})$`).test(one));
}

/** The routes whose time depends on the client, which the rule of slow answers leaves out. */
async function readStreams(gatewayUrl: string, apiKey: string): Promise<void> {
  const stopped = new AbortController();
  const read = (path: string) =>
    fetch(gatewayUrl + path, { headers: { "X-API-Key": apiKey }, signal: stopped.signal });
  await (await read(`/api/reports/statements?from=${new Date(Date.now() - 60_000).toISOString()}`)).text();
  await read("/api/events/stream");
  stopped.abort();
}

async function scrape(name: string): Promise<string> {
  return (await fetch(`http://${stack.stack().services[name]!.ops}/metrics`)).text();
}
