import { type Log } from "@wonrail/kit/log";
import { z } from "zod";

/** The rules of deploy/prometheus are evaluated so often. */
const EVERY_MS = 15_000;
const TIMEOUT_MS = 2_500;
const MAX_BYTES = 2_000_000;
const MAX_ALERTS = 100;
const ERROR_RATIO = "gateway:http_requests:error_ratio_rate30d";

/** Our own alerts. A Prometheus may have alerts of other systems too. */
const OWN_RUNBOOK = /(?:^|\/)docs\/runbooks\/\w+\.(?:md|html)$/;

export interface FiringAlert {
  name: string;
  severity: string;
  summary: string;
  description: string;
  /** An address, or a path in the repository. */
  runbook: string;
  since: string;
}

/** The alerts that fire and the error ratio of thirty days, as Prometheus reports them. */
export type Monitoring =
  | { state: "not_connected" }
  | { state: "away"; url: string; problem: string }
  | {
      state: "connected";
      alerts: FiringAlert[];
      /** Null until the gateway has answered requests. */
      errorRatio: number | null;
    };

export interface MonitoringOptions {
  /** Undefined: the console has no Prometheus. */
  prometheusUrl: string | undefined;
  log: Log;
  everyMs?: number | undefined;
}

/** Reads Prometheus, at most once in `everyMs`. */
export function createMonitoring({ prometheusUrl, log, everyMs = EVERY_MS }: MonitoringOptions) {
  let last: { atMs: number; monitoring: Monitoring } | undefined;

  async function read(url: string): Promise<Monitoring> {
    try {
      const [alerts, errorRatio] = await Promise.all([readAlerts(url), readErrorRatio(url)]);
      return { state: "connected", alerts, errorRatio };
    } catch (error) {
      const wasAway = last?.monitoring.state === "away";
      if (!wasAway) log.warn({ err: error }, "Prometheus could not be read");
      return { state: "away", url, problem: problemOf(error) };
    }
  }

  return {
    async read(): Promise<Monitoring> {
      if (prometheusUrl === undefined) return { state: "not_connected" };
      if (last === undefined || performance.now() - last.atMs >= everyMs)
        last = { monitoring: await read(prometheusUrl), atMs: performance.now() };
      return last.monitoring;
    },
  };
}

export type MonitoringReader = ReturnType<typeof createMonitoring>;

const alertsAnswer = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        state: z.string(),
        activeAt: z.string(),
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()),
      }),
    ),
  }),
});

/** Critical alerts come first, then the oldest. */
async function readAlerts(url: string): Promise<FiringAlert[]> {
  const { data } = await ask(url, "api/v1/alerts", alertsAnswer);
  const firing = data.alerts
    .filter(({ state, annotations }) => state === "firing" && OWN_RUNBOOK.test(annotations.runbook_url ?? ""))
    .map(({ activeAt, labels, annotations }) => ({
      name: labels.alertname ?? "",
      severity: labels.severity ?? "",
      summary: annotations.summary ?? "",
      description: annotations.description ?? "",
      runbook: annotations.runbook_url ?? "",
      since: activeAt,
    }));
  const rank = ({ severity, since }: FiringAlert) => `${severity === "critical" ? 0 : 1} ${since}`;
  return firing.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, MAX_ALERTS);
}

const queryAnswer = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

async function readErrorRatio(url: string): Promise<number | null> {
  const { data } = await ask(url, `api/v1/query?query=${encodeURIComponent(ERROR_RATIO)}`, queryAnswer);
  const ratio = Number(data.result[0]?.value[1] ?? NaN);
  return Number.isFinite(ratio) ? ratio : null;
}

async function ask<T>(url: string, path: string, answer: z.ZodType<T>): Promise<T> {
  const base = url.endsWith("/") ? url : `${url}/`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(new URL(path, base), { signal, redirect: "error" });
  if (!response.ok) throw new Error(`it answered with the status ${response.status}`);
  return answer.parse(JSON.parse(await readText(response)));
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`its answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function problemOf(error: unknown): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return "its answer is not that of Prometheus";
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `no answer within ${TIMEOUT_MS} ms`;
  // The message of fetch says nothing; its cause does.
  const { code, message: reason } = (cause ?? {}) as { code?: string; message?: string };
  return code ?? reason ?? message;
}
