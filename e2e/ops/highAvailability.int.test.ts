import { join } from "node:path";
import { parse } from "yaml";
import { helm, render } from "./chart";
import { readText, ROOT } from "./repository";

// The example for CloudNativePG. Its fields were checked against the operator's own schema.

const VALUES = "deploy/ha/examples/values.yaml";
const cluster = parse(readText("deploy/ha/examples/cloudnative-pg.yaml")) as {
  metadata: { name: string; namespace: string };
  spec: {
    instances: number;
    postgresql: { synchronous: object; parameters: { max_connections: string } };
  };
};

test("the cluster acknowledges no commit that a failover could lose", () => {
  const { instances, postgresql } = cluster.spec;
  expect(instances).toBe(3);
  const required = { method: "any", number: 1, dataDurability: "required", failoverQuorum: true };
  expect(postgresql.synchronous).toEqual(required);
});

test("the cluster takes the connections that the production checklist asks for", () => {
  const [, number] = /\*\*Set `max_connections`\*\* [^:]*:\s+(\d+)/.exec(
    readText("docs/operate/production.md"),
  )!;
  expect(Number(cluster.spec.postgresql.parameters.max_connections)).toBeGreaterThanOrEqual(Number(number));
});

(helm === undefined ? test.skip : test)("the chart's policies lead to the pods of the cluster", () => {
  const policies = render("production", "-f", join(ROOT, VALUES)).filter(
    ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name.endsWith("ledger"),
  );
  expect(policies).toHaveLength(1);
  const { name, namespace } = cluster.metadata;
  expect(JSON.stringify(policies[0]!.spec)).toContain(
    JSON.stringify({
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
      podSelector: { matchLabels: { "cnpg.io/cluster": name } },
    }),
  );
});
