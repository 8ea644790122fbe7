import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { testLog } from "@wonrail/kit/testing";
import { createMonitoring } from "./monitoring";

// Prometheus is not ours, so a server with its answers stands for it. console.e2e.test.ts has a real
// one.

const RUNBOOK = "https://code.example/docs/runbooks/OperationsBlocked.md";
let answers: Record<string, RequestListener> = {};
const server = createServer((req, res) => {
  const path = new URL(req.url ?? "", "http://prometheus").pathname;
  (answers[path] ?? ((_, refused) => refused.writeHead(404).end()))(req, res);
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prometheus`;
});
afterAll(() => void server.close());

const sends =
  (body: unknown): RequestListener =>
  (_, res) =>
    void res.setHeader("content-type", "application/json").end(JSON.stringify(body));
const alert = (name: string, change: Record<string, unknown> = {}) => ({
  state: "firing",
  activeAt: "2026-11-28T01:00:00Z",
  labels: { alertname: name, severity: "critical" },
  annotations: { summary: `${name} fires`, description: "…", runbook_url: RUNBOOK },
  ...change,
});
const know = (alerts: unknown[], result: unknown[] = [{ value: [0, "0.00025"] }]) =>
  (answers = {
    "/prometheus/api/v1/alerts": sends({ status: "success", data: { alerts } }),
    "/prometheus/api/v1/query": sends({ status: "success", data: { result } }),
  });
const read = (prometheusUrl: string | undefined = url) =>
  createMonitoring({ prometheusUrl, log: testLog() }).read();

test("our alerts that fire are reported, the critical ones first and then the oldest", async () => {
  const warning = {
    labels: { alertname: "QueuePaused", severity: "warning" },
    activeAt: "2026-11-27T01:00:00Z",
  };
  know([
    alert("QueuePaused", warning),
    alert("OperationsBlocked"),
    alert("SignerGasLow", { activeAt: "2026-11-27T01:00:00Z" }),
    alert("NonceGap", { state: "pending" }),
    alert("DiskFull", { annotations: { runbook_url: "https://wiki.example/disks" } }),
    alert("NoRunbook", { annotations: {} }),
  ]);
  const monitoring = await read();
  expect(monitoring).toMatchObject({ state: "connected", errorRatio: 0.00025 });
  expect(monitoring).toHaveProperty("alerts.0", {
    name: "SignerGasLow",
    severity: "critical",
    summary: "SignerGasLow fires",
    description: "…",
    runbook: RUNBOOK,
    since: "2026-11-27T01:00:00Z",
  });
  const { alerts } = monitoring as { alerts: { name: string }[] };
  expect(alerts.map(({ name }) => name)).toEqual(["SignerGasLow", "OperationsBlocked", "QueuePaused"]);
});

test.each([
  ["no series", []],
  ["no number", [{ value: [0, "NaN"] }]],
])("the error ratio is unknown when Prometheus has %s", async (_what, result) => {
  know([], result);
  expect(await read()).toEqual({ state: "connected", alerts: [], errorRatio: null });
});

test.each<[string, RequestListener, string]>([
  ["an error", (_, res) => void res.writeHead(503).end(), "it answered with the status 503"],
  ["another page", (_, res) => void res.end("<html>"), "its answer is not that of Prometheus"],
  ["another object", sends({ data: {} }), "its answer is not that of Prometheus"],
  ["too much", sends("x".repeat(2_000_001)), "its answer is larger than 2000000 bytes"],
  ["a redirect", (_, res) => void res.writeHead(302, { location: "/" }).end(), "unexpected redirect"],
])("Prometheus is away when it sends %s", async (_what, listener, problem) => {
  know([]);
  answers["/prometheus/api/v1/alerts"] = listener;
  expect(await read()).toEqual({ state: "away", url, problem });
});

test("Prometheus is away when nothing listens", async () => {
  expect(await read("http://127.0.0.1:1")).toMatchObject({ state: "away" });
});

test("Prometheus is asked once for several reads in a row", async () => {
  know([]);
  const monitoring = createMonitoring({ prometheusUrl: url, log: testLog(), everyMs: 60_000 });
  await monitoring.read();
  know([alert("OperationsBlocked")]);
  expect(await monitoring.read()).toMatchObject({ alerts: [] });
});

test("a console without a Prometheus says so", async () => {
  expect(await createMonitoring({ prometheusUrl: undefined, log: testLog() }).read()).toEqual({
    state: "not_connected",
  });
});
