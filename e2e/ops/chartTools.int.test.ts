import { spawnSync } from "node:child_process";
import { join } from "node:path";
import Ajv, { type AnySchema } from "ajv";
import { reportSkipped } from "../support/reportSkipped";
import { CHART, type Manifest, VALUES, helm, parseManifests, render, renderText } from "./chart";
import { ROOT, readText } from "./repository";
import { findTool } from "./tools";

// Checks the chart with external tools, which deploy/kube/tools.sh builds.

const SCHEMA = "e2e/ops/schemas/kubernetes.json";
const helm3 = withTool("helm3", "the chart is not rendered with helm 3");
const unittest = withTool("helm-unittest", "the suites beside the chart do not run");
const kubeconform = withTool(
  "kubeconform",
  "manifests are held against the schemas by our own validator only",
);
/** Kinds of external operators, without a schema in a plain cluster. */
const FOREIGN = ["ServiceMonitor", "PrometheusRule", "Certificate"];

const schema = JSON.parse(readText(SCHEMA)) as AnySchema;
const isTaken = new Ajv({ strict: false, allErrors: false }).compile(schema);
const refusal = (manifest: Manifest) =>
  isTaken(manifest) ? [] : [{ kind: manifest.kind, name: manifest.metadata.name, why: isTaken.errors }];

(helm === undefined ? describe.skip : describe).each(VALUES)("with the values for %s", (values) => {
  const own = () => render(values).filter(({ kind }) => !FOREIGN.includes(kind));

  it("each manifest has only fields that the API server knows, with their types", () => {
    expect(own().length).toBeGreaterThan(20);
    expect(own().flatMap(refusal)).toEqual([]);
  });

  it("a misplaced field is found at any depth", () => {
    const [deployment] = own().filter(({ kind }) => kind === "Deployment");
    const misplaced = structuredClone(deployment!) as { spec: { template: { spec: object } } } & Manifest;
    Object.assign(misplaced.spec.template.spec, { readinessProbe: {} });
    expect(refusal(misplaced)).toHaveLength(1);
    expect(refusal({ ...deployment!, spec: { ...deployment!.spec, replicas: "2" } })).toHaveLength(1);
  });

  (kubeconform === undefined ? it.skip : it)("kubeconform says the same", () => {
    const args = [
      "-strict",
      "-summary",
      "-skip",
      FOREIGN.join(","),
      "-schema-location",
      join(ROOT, SCHEMA),
      "-",
    ];
    const { status, stdout } = spawnSync(kubeconform!, args, {
      input: renderText(helm!, values),
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/Invalid: 0, Errors: 0/) });
  });

  (helm3 === undefined ? it.skip : it)("helm 3 renders the same, and finds nothing to complain about", () => {
    const lint = spawnSync(helm3!, ["lint", CHART, "-f", join(CHART, `values-${values}.yaml`)], {
      encoding: "utf8",
    });
    expect(lint).toMatchObject({ status: 0 });
    expect(withoutSecrets(parseManifests(renderText(helm3!, values)))).toEqual(
      withoutSecrets(render(values)),
    );
  });
});

(unittest === undefined ? test.skip : test)("helm-unittest: every suite in helm/wonrail/tests passes", () => {
  const { status, stdout } = spawnSync(unittest!, ["--strict", CHART], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/Tests: +[1-9]\d* passed/) });
});

/** By name, because the two sort differently; secrets are generated anew each time. */
function withoutSecrets(manifests: Manifest[]): Map<string, Manifest> {
  const entries = manifests
    .filter(({ kind }) => kind !== "Secret")
    .map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest] as const);
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function withTool(name: string, otherwise: string): string | undefined {
  const path = findTool(name);
  if (path === undefined)
    reportSkipped(`${otherwise}, ${name} is absent; deploy/kube/tools.sh --all builds it`);
  return path;
}
