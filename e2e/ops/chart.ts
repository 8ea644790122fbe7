import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { ROOT } from "./repository";
import { findTool } from "./tools";

export const CHART = join(ROOT, "helm/wonrail");
export const VALUES = ["dev", "ci", "production"] as const;

export interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

export interface Container {
  name: string;
  image: string;
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  ports?: { name: string; containerPort: number }[];
  securityContext?: Record<string, unknown>;
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
  [probe: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  securityContext?: Record<string, unknown>;
  automountServiceAccountToken?: boolean;
  volumes?: Record<string, unknown>[];
  terminationGracePeriodSeconds?: number;
  [host: string]: unknown;
}

/** helm 4 from the PATH or from deploy/kube/tools.sh. */
export const helm = findTool("helm", (path) =>
  spawnSync(path, ["version", "--short"], { encoding: "utf8" }).stdout.startsWith("v4."),
);

export function helmRun(...args: string[]): { ok: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync(helm!, args, { encoding: "utf8" });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

export function render(values: string, ...more: string[]): Manifest[] {
  return parseManifests(renderText(helm!, values, ...more));
}

const rendered = new Map<string, string>();

/**
 * Output of `helm template`, on a cluster with Prometheus' operator. Rendered once per test file
 * and values.
 */
export function renderText(tool: string, values: string, ...more: string[]): string {
  const key = JSON.stringify([tool, values, ...more]);
  if (!rendered.has(key)) rendered.set(key, runTemplate(tool, values, more));
  return rendered.get(key)!;
}

function runTemplate(tool: string, values: string, more: string[]): string {
  const file = join(CHART, `values-${values}.yaml`);
  const args = ["template", "wonrail", CHART, "--namespace", "wonrail", "-f", file];
  return execFileSync(tool, [...args, "--api-versions", "monitoring.coreos.com/v1", ...more], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
}

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((document) => document !== null);
}

/** Every manifest that creates pods, by kind and name. */
export function podsOf(manifests: Manifest[]): { owner: string; component: string; pod: PodSpec }[] {
  return manifests.flatMap(({ kind, metadata, spec }) => {
    const template = (spec as { template?: { spec: PodSpec } } | undefined)?.template?.spec;
    const pod = kind === "Pod" ? (spec as unknown as PodSpec) : template;
    if (!pod) return [];
    const component = metadata.labels!["app.kubernetes.io/component"]!;
    return [{ owner: `${kind}/${metadata.name}`, component, pod }];
  });
}
