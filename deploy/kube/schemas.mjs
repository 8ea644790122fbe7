// kubectl get --raw /openapi/v2 | node deploy/kube/schemas.mjs > e2e/ops/schemas/kubernetes.json
// Makes a strict JSON schema of the kinds in the chart from an API server's schema: it refuses unknown fields and
// wrong types. Descriptions are left out, so the file is small enough to lie beside the tests.
import { readFileSync } from "node:fs";

const KINDS = [
  "ConfigMap v1",
  "Pod v1",
  "Secret v1",
  "Service v1",
  "ServiceAccount v1",
  "Deployment apps/v1",
  "StatefulSet apps/v1",
  "HorizontalPodAutoscaler autoscaling/v2",
  "Job batch/v1",
  "Ingress networking.k8s.io/v1",
  "NetworkPolicy networking.k8s.io/v1",
  "PodDisruptionBudget policy/v1",
];
const { definitions, info } = JSON.parse(readFileSync(0, "utf8"));
const used = new Map();

/** The name of a type in the schema: the last words of its long one, unless two end alike. */
const shortName = (name) => name.split(".").slice(-2).join(".");

function refTo(name) {
  const short = shortName(name);
  if (!used.has(short)) {
    used.set(short, undefined);
    used.set(short, typeOf(name));
  }
  return { $ref: `#/definitions/${short}` };
}

function typeOf(name) {
  if (name.endsWith(".IntOrString")) return { type: ["string", "integer"] };
  if (name.endsWith(".Quantity")) return { type: ["string", "number"] };
  return strict(definitions[name]);
}

function strict({ $ref, type, properties, required, items, additionalProperties }) {
  if ($ref) return refTo($ref.slice("#/definitions/".length));
  const schema = { ...(type && { type }), ...(required && { required }) };
  if (items) schema.items = strict(items);
  if (additionalProperties) schema.additionalProperties = strict(additionalProperties);
  if (!properties) return schema;
  const entries = Object.entries(properties).map(([field, value]) => [field, strict(value)]);
  return { ...schema, properties: Object.fromEntries(entries), additionalProperties: false };
}

function nameOf(kind, version) {
  const found = Object.entries(definitions).find(([, definition]) =>
    definition["x-kubernetes-group-version-kind"]?.some(
      (each) =>
        each.kind === kind && (each.group ? `${each.group}/${each.version}` : each.version) === version,
    ),
  );
  if (!found) throw new Error(`this API server has no ${kind} of ${version}`);
  return found[0];
}

const rules = KINDS.map((each) => {
  const [kind, apiVersion] = each.split(" ");
  const is = { properties: { kind: { const: kind }, apiVersion: { const: apiVersion } } };
  return { if: is, then: refTo(nameOf(kind, apiVersion)) };
});
const properties = {
  kind: { enum: KINDS.map((each) => each.split(" ")[0]) },
  apiVersion: { enum: [...new Set(KINDS.map((each) => each.split(" ")[1]))] },
};
const sorted = [...used].sort(([a], [b]) => (a < b ? -1 : 1));
const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: `Kubernetes ${info.version}`,
  type: "object",
  required: ["apiVersion", "kind", "metadata"],
  properties,
  allOf: rules,
  definitions: Object.fromEntries(sorted),
};
process.stdout.write(`${JSON.stringify(schema)}\n`);
