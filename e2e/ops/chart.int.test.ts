import { join } from "node:path";
import { reportSkipped } from "../support/reportSkipped";
import {
  CHART,
  type Container,
  type Manifest,
  type PodSpec,
  VALUES,
  helm,
  helmRun,
  podsOf,
  render,
} from "./chart";
import { DEPLOYED, calledBy, settingsOf, youngFlag } from "./repository";

if (helm === undefined)
  reportSkipped("the chart is not rendered, helm 4 is absent; deploy/kube/tools.sh builds it");
const withHelm = helm === undefined ? describe.skip : describe;
/** Processes with an HTTP server in place of a gRPC server. */
const EDGES = ["gateway", "console"];
const ONE_KAFKA_USER =
  "bus.ownAuthority=true,secrets.kafka.secretPrefix=,secrets.kafka.existingSecret=wonrail-kafka";
const PROXY_WARNING = /WARNING: services\.gateway\.trustedProxyHops is 0/;
const OWN_PARTS = ["postgres", "kafka", "chain"];

withHelm("the chart", () => {
  const rendered = new Map<string, Manifest[]>();
  beforeAll(() => {
    for (const values of VALUES) rendered.set(values, render(values));
    rendered.set("dev without Kafka", render("dev", "--set", "bus.kind=feed"));
    rendered.set("production without Kafka", render("production", "--set", "bus.kind=feed"));
    rendered.set(
      "production with init containers",
      render("production", "--set", "migrations.mode=initContainer"),
    );
    rendered.set("dev in plain text", render("dev", "--set", "mtls.allowPlainText=true"));
    rendered.set("production with one user of Kafka", render("production", "--set", ONE_KAFKA_USER));
  });
  const cases = [
    ...VALUES,
    "dev without Kafka",
    "production without Kafka",
    "production with init containers",
    "production with one user of Kafka",
    "dev in plain text",
  ];

  it.each(VALUES)("passes helm lint with the values for %s", (values) => {
    expect(helmRun("lint", CHART, "-f", join(CHART, `values-${values}.yaml`))).toMatchObject({ ok: true });
  });

  it.each([
    [{}, 5 + 20 + 10],
    [{ SHUTDOWN_SETTLE_MS: "30000" }, 5 + 30 + 20 + 10],
    [{ SHUTDOWN_GRACE_MS: "60000" }, 5 + 60 + 10],
    [{ SHUTDOWN_SETTLE_MS: "1000", SHUTDOWN_GRACE_MS: "3000" }, 5 + 1 + 3 + 10],
  ])("gives pods a grace period longer than the drain with %j", (env, seconds) => {
    const settings = Object.entries(env).map(([name, value]) => `defaults.env.${name}=${value}`);
    const pods = podsOf(render("production", "--set-string", settings.join(",")));
    const [auth] = pods.filter(({ owner }) => owner === "Deployment/wonrail-auth");
    expect(auth!.pod.terminationGracePeriodSeconds).toBe(seconds);
  });

  it.each([
    ["ingress.enabled=true,services.gateway.trustedProxyHops=0", PROXY_WARNING],
    [
      "ingress.enabled=false,gatewayService.type=LoadBalancer,services.gateway.trustedProxyHops=0",
      PROXY_WARNING,
    ],
    ["mtls.allowPlainText=true", /WARNING: mtls\.allowPlainText is true/],
  ])("warns in its notes about %s", (settings, warning) => {
    expect(notes("--set", settings)).toMatch(warning);
    expect(notes()).not.toMatch(/WARNING/);
  });

  it("gives each service its own Kafka user", () => {
    const pods = podsOf(rendered.get("production")!);
    for (const { name } of DEPLOYED) {
      const isService = !EDGES.includes(name);
      const { pod } = pods.find(({ owner }) => owner === `Deployment/wonrail-${name}`)!;
      const shown = JSON.stringify(pod.volumes).match(/"wonrail-kafka[^"]*"/g) ?? [];
      expect({ name, shown }).toEqual({ name, shown: isService ? [`"wonrail-kafka-${name}"`] : [] });
      const { env } = pod.containers[0]!;
      const kafka = Object.fromEntries(env!.map((each) => [each.name, each.value]));
      if (isService) expect(kafka).toMatchObject({ KAFKA_TLS: "true", KAFKA_SASL: "scram-sha-512" });
    }
  });

  describe.each(cases)("with the values for %s", (values) => {
    const manifests = () => rendered.get(values)!;
    const pods = () => podsOf(manifests());

    it('has only pods that Pod Security "restricted" admits', () => {
      const wrong = pods().flatMap(({ owner, pod }) => {
        const problems = podProblems(pod.securityContext, pod);
        const containers = [...pod.containers, ...(pod.initContainers ?? [])];
        return [...problems, ...containers.flatMap(containerProblems)].map(
          (problem) => `${owner}: ${problem}`,
        );
      });
      expect(wrong).toEqual([]);
    });

    it("gives each of our containers a read-only root, limits and a fixed image", () => {
      const wrong = pods().flatMap(({ owner, component, pod }) =>
        [...pod.containers, ...(pod.initContainers ?? [])].flatMap((container) => [
          ...(container.securityContext?.readOnlyRootFilesystem === true || component === "kafka"
            ? []
            : [`${owner} ${container.name}: root is writable`]),
          ...(container.resources?.limits?.memory && container.resources.requests?.cpu
            ? []
            : [`${owner} ${container.name}: no limit`]),
          ...(/[:@](?!latest)[^/]+$/.test(container.image)
            ? []
            : [`${owner} ${container.name}: ${container.image} moves`]),
        ]),
      );
      expect(wrong).toEqual([]);
    });

    it("names each variable once, and only variables that the code reads", () => {
      for (const process of DEPLOYED) {
        const container = workload(manifests(), process.name);
        const names = container.env!.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        const known = settingsOf(process);
        const strangers = names.filter(
          (name) => name !== "NODE_OPTIONS" && !known.has(name.replace(/_FILE$/, "")) && !known.has(name),
        );
        expect({ process: process.name, strangers }).toEqual({ process: process.name, strangers: [] });
        expect(
          container.env!.filter(({ value, valueFrom }) => value === undefined || value === "" || valueFrom),
        ).toEqual([]);
      }
    });

    it("starts each process with the same young generation, which leaves room for the old one", () => {
      for (const { name } of DEPLOYED) {
        const { env } = workload(manifests(), name);
        const flags = env!.find((each) => each.name === "NODE_OPTIONS")!.value!.split(" ");
        expect({ name, flags }).toEqual({ name, flags: expect.arrayContaining([youngFlag(name)]) });
        const [old] = flags.flatMap((flag) => /^--max-old-space-size=([1-9]\d*)$/.exec(flag)?.[1] ?? []);
        expect(Number(old)).toBeGreaterThanOrEqual(160);
      }
    });

    it("keeps the signer on its own nodes in production", () => {
      const pools = DEPLOYED.map(({ name }) => {
        const { pod } = pods().find(({ owner }) => owner === `Deployment/wonrail-${name}`)!;
        return { name, pool: pod.nodeSelector, tolerates: pod.tolerations };
      }).filter(({ pool, tolerates }) => pool !== undefined || tolerates !== undefined);
      const signer = {
        name: "wallet",
        pool: { "wonrail.io/pool": "signer" },
        tolerates: [expect.objectContaining({ value: "signer", effect: "NoSchedule" })],
      };
      expect(pools).toEqual(values.startsWith("production") ? [signer] : []);
    });

    it("draws exactly the code's edges, in addresses and in policies", () => {
      for (const process of DEPLOYED) {
        const addresses = workload(manifests(), process.name)
          .env!.filter(({ name }) => name.endsWith("_ADDRESS") && !/TOKEN|MANAGER/.test(name))
          .map(({ value }) => /^wonrail-(.+):7000$/.exec(value!)![1]);
        expect(addresses.sort()).toEqual(calledBy(process));
        expect(egressComponents(policy(manifests(), process.name), 7000)).toEqual(calledBy(process));
        const callers = DEPLOYED.filter((each) => calledBy(each).includes(process.name)).map(
          ({ name }) => name,
        );
        if (!EDGES.includes(process.name))
          expect(ingressComponents(policy(manifests(), process.name), "grpc")).toEqual(callers.sort());
      }
    });

    it("lets only chain-relayer, events and the console reach their hosts outside", () => {
      const outside = DEPLOYED.filter(({ name }) =>
        egressPorts(policy(manifests(), name)).some((port) => port === 443 || port === 8545),
      );
      expect(outside.map(({ name }) => name)).toEqual(
        // Only production has an identity provider.
        ["chain-relayer", "events", ...(values.startsWith("production") ? ["console"] : [])],
      );
      const deny = manifests().find(
        ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name.endsWith("-deny"),
      )!;
      expect(deny.spec).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
      expect(deny.spec).not.toHaveProperty("ingress");
      expect(deny.spec).not.toHaveProperty("egress");
    });

    it("mounts each key from a Secret into its one process, and never as a variable", () => {
      const holders = (key: string) =>
        pods()
          .filter(({ pod }) => JSON.stringify(pod.volumes ?? []).includes(`"${key}"`))
          .map(({ component }) => component)
          .filter((component) => !OWN_PARTS.includes(component));
      expect(holders("kek.json")).toEqual(["wallet"]);
      expect(holders("webhook-kek.json")).toEqual(["events"]);
      expect(holders("operator-key")).toEqual(["chain-relayer"]);
      for (const { name, schema } of DEPLOYED) {
        expect(new Set(holders(`${name}-url`))).toEqual(new Set(schema ? ownersOf(values, name) : []));
      }
      expect(JSON.stringify(pods())).not.toMatch(/postgres(ql)?:\/\//);
    });

    it("restricts name look-ups to the cluster's DNS", () => {
      const asked = manifests().flatMap(({ kind, spec }) =>
        kind === "NetworkPolicy" ? ((spec as Policy).egress ?? []).filter(asksForNames) : [],
      );
      expect(asked.length).toBeGreaterThanOrEqual(DEPLOYED.length);
      for (const { to } of asked)
        expect(to).toEqual([
          {
            namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
            podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
          },
        ]);
    });

    it("mounts Postgres' authority at one path for each process with a database URL", () => {
      const shown = pods().filter(({ pod }) =>
        JSON.stringify(pod.volumes ?? []).includes("wonrail-postgres-ca"),
      );
      for (const { pod } of shown) {
        expect(pod.volumes).toContainEqual(
          expect.objectContaining({ secret: expect.objectContaining({ items: [CA_FILE] }) as unknown }),
        );
        for (const { volumeMounts } of [...pod.containers, ...(pod.initContainers ?? [])])
          expect(volumeMounts).toContainEqual(
            expect.objectContaining({ mountPath: "/run/secrets/postgres" }),
          );
      }
      const withUrl = pods().filter(({ pod }) => JSON.stringify(pod.volumes ?? []).includes("-url"));
      const owners = (list: { owner: string }[]) => list.map(({ owner }) => owner).sort();
      expect(owners(shown)).toEqual(values.startsWith("production") ? owners(withUrl) : []);
    });

    it("mounts each process only its own certificate, and probes only ports that admit the kubelet", () => {
      const hasMtls = !values.includes("plain text");
      for (const { name } of DEPLOYED) {
        const isService = !EDGES.includes(name);
        const { pod } = pods().find(({ owner }) => owner === `Deployment/wonrail-${name}`)!;
        const volumes = (pod.volumes ?? []) as { secret?: { secretName: string } }[];
        const secrets = volumes.flatMap(({ secret }) => secret?.secretName ?? []);
        const certificates = secrets.filter((secret) => secret.startsWith("wonrail-tls-"));
        expect(certificates).toEqual(hasMtls ? [`wonrail-tls-${name}`] : []);
        const tls = pod.containers[0]!.env!.filter(({ name: variable }) => variable.startsWith("TLS_"));
        expect(tls).toHaveLength(hasMtls ? 3 : 0);
        const allowed = pod.containers[0]!.env!.find((one) => one.name === "ALLOW_UNIDENTIFIED_CALLERS");
        expect(allowed?.value).toBe(!isService || hasMtls ? undefined : "true");
        const byGrpc = isService && !hasMtls;
        expect(pod.containers[0]).toMatchObject({
          startupProbe: byGrpc ? { grpc: { port: 7000 } } : { httpGet: { path: "/livez" } },
        });
        const maker = { kind: values.startsWith("production") ? "Certificate" : "Secret" };
        const made = { ...maker, metadata: { name: `wonrail-tls-${name}` } };
        if (hasMtls)
          expect(manifests()).toContainEqual(
            expect.objectContaining({
              kind: made.kind,
              metadata: expect.objectContaining(made.metadata) as unknown,
            }),
          );
      }
    });

    it("selects by constant labels, and every Service finds a port of its name", () => {
      for (const { kind, metadata, spec } of manifests()) {
        const selector = (spec as { selector?: { matchLabels?: Record<string, string> } } | undefined)
          ?.selector;
        const labels = selector?.matchLabels ?? selector;
        if (!["Deployment", "StatefulSet", "Service", "PodDisruptionBudget"].includes(kind)) continue;
        expect(Object.keys(labels as object).sort()).toEqual(
          ["component", "instance", "name"].map((name) => `app.kubernetes.io/${name}`),
        );
        if (kind !== "Service") continue;
        const component = metadata.labels!["app.kubernetes.io/component"]!;
        const target = pods().find((each) => each.component === component)!.pod.containers[0]!;
        const ports = (spec as { ports: { name: string; targetPort?: string }[] }).ports;
        for (const port of ports)
          expect(target.ports!.map(({ name }) => name)).toContain(port.targetPort ?? port.name);
      }
    });

    it("probes, drains and rolls out without a gap", () => {
      for (const { name } of DEPLOYED) {
        const { spec } = manifests().find(
          (each) => each.kind === "Deployment" && each.metadata.name === `wonrail-${name}`,
        )!;
        const pod = pods().find(({ owner }) => owner === `Deployment/wonrail-${name}`)!.pod;
        expect(spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
        expect(pod.containers[0]).toMatchObject({
          livenessProbe: { httpGet: { path: "/livez", port: "ops" } },
          readinessProbe: { httpGet: { path: "/readyz", port: "ops" } },
          lifecycle: { preStop: { sleep: { seconds: 5 } } },
        });
        expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(5 + 20);
      }
    });
  });
});

/** The text that an operator sees after an installation with the values for production. */
function notes(...settings: string[]): string {
  const file = join(CHART, "values-production.yaml");
  const { ok, output } = helmRun("install", "wonrail", CHART, "--dry-run=client", "-f", file, ...settings);
  expect({ ok, output }).toMatchObject({ ok: true });
  return output.slice(output.indexOf("NOTES:"));
}

function ownersOf(values: string, name: string): string[] {
  return /dev|ci|init/.test(values) ? [name] : [name, "migrate"];
}

const RESTRICTED_VOLUMES = new Set(["configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"]);

function podProblems(security: Record<string, unknown> = {}, pod: PodSpec): string[] {
  return [
    ...(security.runAsNonRoot === true ? [] : ["may run as root"]),
    ...((security.seccompProfile as { type?: string } | undefined)?.type === "RuntimeDefault"
      ? []
      : ["no seccomp profile"]),
    ...(pod.automountServiceAccountToken === false ? [] : ["has a service account's token"]),
    ...["hostNetwork", "hostPID", "hostIPC"].filter((name) => pod[name]).map((name) => `uses ${name}`),
    ...(pod.volumes ?? [])
      .flatMap((volume) => Object.keys(volume).filter((name) => name !== "name"))
      .filter((kind) => !RESTRICTED_VOLUMES.has(kind))
      .map((kind) => `mounts a ${kind}`),
    ...(security.runAsUser === 0 ? ["runs as user 0"] : []),
    ...(security.sysctls ? ["sets sysctls"] : []),
  ];
}

/** Settings of a container that would weaken its pod's security. */
function containerProblems({ name, securityContext = {}, ports = [] }: Container): string[] {
  const { drop = [], add = [] } = (securityContext.capabilities ?? {}) as { drop?: string[]; add?: string[] };
  return [
    ...(securityContext.allowPrivilegeEscalation === false ? [] : [`${name} may gain privileges`]),
    ...(drop.includes("ALL") ? [] : [`${name} keeps capabilities`]),
    ...(add.length > 0 ? [`${name} gains capabilities`] : []),
    ...["privileged", "procMount", "seccompProfile", "seLinuxOptions"]
      .filter((field) => securityContext[field])
      .map((field) => `${name} sets ${field}`),
    ...(securityContext.runAsNonRoot === false || securityContext.runAsUser === 0 ? [`${name} is root`] : []),
    ...(ports.some((port) => "hostPort" in port) ? [`${name} takes a port of the host`] : []),
  ];
}

function workload(manifests: Manifest[], name: string): Container {
  return podsOf(manifests).find(({ owner }) => owner === `Deployment/wonrail-${name}`)!.pod.containers[0]!;
}

const CA_FILE = { key: "ca.crt", path: "ca.crt" };
const asksForNames = ({ ports }: Rule) => ports.some(({ protocol }) => protocol === "UDP");

interface Rule {
  ports: { port: number | string; protocol?: string }[];
  from?: Peer[];
  to?: Peer[];
}
interface Peer {
  podSelector?: { matchLabels: Record<string, string> };
}
interface Policy {
  ingress?: Rule[];
  egress?: Rule[];
}

function policy(manifests: Manifest[], name: string): Policy {
  return manifests.find(
    ({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === `wonrail-${name}`,
  )!.spec as Policy;
}

function componentsOf(peers: Peer[]): string[] {
  return peers.map((peer) => peer.podSelector!.matchLabels["app.kubernetes.io/component"]!).sort();
}

function egressComponents({ egress = [] }: Policy, port: number): string[] {
  return componentsOf(
    egress.filter((rule) => rule.ports.some((each) => each.port === port)).flatMap(({ to = [] }) => to),
  );
}

function ingressComponents({ ingress = [] }: Policy, port: string): string[] {
  return componentsOf(
    ingress.filter((rule) => rule.ports.some((each) => each.port === port)).flatMap(({ from = [] }) => from),
  );
}

function egressPorts({ egress = [] }: Policy): (number | string)[] {
  return egress.flatMap(({ ports }) => ports.map(({ port }) => port));
}
