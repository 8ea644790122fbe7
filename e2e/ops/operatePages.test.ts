import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { DEPLOYED, PROCESSES, readText, ROOT } from "./repository";

const pageOf = (name: string) => readText(`docs/operate/${name}.md`);
const install = pageOf("install");
const production = pageOf("production");
const onOneLine = (page: string) => page.replaceAll(/\s+/g, " ");
const commands = `${install.slice(install.indexOf("## In production"))}\n${pageOf("upgrade")}`
  .split("\n")
  .filter((line) => /^helm (install|upgrade) /.test(line));

test("an upgrade names the values files of the installation, which keeps its settings", () => {
  const files = commands.map((command) =>
    [...command.matchAll(/ (?:-f|--values)[ =](\S+)/g)].map((match) => match[1]),
  );
  expect(files).toEqual([PRODUCTION, PRODUCTION]);
});
const PRODUCTION = ["helm/wonrail/values-production.yaml", "yours.yaml"];

test("the namespace is there before anything is put into it", () => {
  const lines = install.slice(install.indexOf("## In production")).split("\n");
  const create = lines.indexOf("kubectl create namespace wonrail");
  expect(create).toBeGreaterThan(0);
  expect(lines.findIndex((line) => line.includes("-n wonrail"))).toBeGreaterThan(create);
});

test('placeholder values in values-production.yaml are marked "yours"', () => {
  const text = readText("helm/wonrail/values-production.yaml");
  const unmarked = text
    .split("\n")
    .filter((line) => /example\.com|0x0{30}/.test(line) && !/# yours$/.test(line));
  expect(unmarked).toEqual([]);
  const { chain } = parse(text) as { chain: object };
  const yours = Object.keys(chain).filter((name) => new RegExp(`^  ${name}: .* # yours$`, "m").test(text));
  expect(yours).toEqual(["rpcUrls", "chainId", "tokenAddress", "paymentManagerAddress", "startBlock"]);
});

test("production uses Kafka by TLS, with a user per service, on the port that the policy opens", () => {
  const text = readText("helm/wonrail/values-production.yaml");
  const { bus, secrets, networkPolicy } = parse(text) as {
    bus: { brokers: string[]; tls: boolean; sasl: string };
    secrets: { kafka: { secretPrefix: string } };
    networkPolicy: { kafka: { port: number } };
  };
  expect(bus).toMatchObject({ tls: true, sasl: "scram-sha-512" });
  expect(bus.brokers.map((broker) => broker.split(":")[1])).toEqual(
    bus.brokers.map(() => `${networkPolicy.kafka.port}`),
  );
  for (const line of ["  brokers: ", "  sasl: ", "    port: "])
    expect(text.split("\n").find((each) => each.startsWith(line))).toMatch(/# yours$/);
  const made = commandBlock("secret generic wonrail-kafka-");
  expect(made).toContain(`secret generic ${secrets.kafka.secretPrefix}-auth `);
  expect(onOneLine(production)).toContain(`\`networkPolicy.kafka.port\`, ${networkPolicy.kafka.port} `);
});
/** The guide's command line that contains this part. */
function commandBlock(part: string): string {
  return install.split("\n").find((line) => line.startsWith("kubectl ") && line.includes(part)) ?? "";
}

test("max_connections allows every pod of values-production.yaml and one more of each process during a roll-out", () => {
  const { defaults, services } = parse(readText("helm/wonrail/values-production.yaml")) as Production;
  const { postgres } = parse(readText("helm/wonrail/values.yaml")) as { postgres: { poolMax: number } };
  const pods = DEPLOYED.filter(({ schema }) => schema !== undefined).map(({ name }) => {
    const { replicas, autoscaling } = { ...defaults, ...services[name] };
    const { enabled, maxReplicas } = { ...defaults.autoscaling, ...autoscaling };
    return (enabled ? maxReplicas : replicas) + 1;
  });
  const connections = pods.reduce((sum, count) => sum + count * (postgres.poolMax + 2), 20);
  expect(onOneLine(production)).toContain(
    `\`postgres.poolMax\` and two: ${connections} for values-production.yaml`,
  );
});
interface Production {
  defaults: { replicas: number; autoscaling: { enabled: boolean; maxReplicas: number } };
  services: Record<string, Partial<Production["defaults"]>>;
}

test("the rights in Kafka are for the topics and groups that there are", () => {
  const table = production.split("| Topic | Written by | Read by the groups |")[1]!.split("\n\n")[0]!;
  const listed = [...table.matchAll(/^\| (wonrail\S+) \| (\S+) \| (.*)\|$/gm)].map(
    ([, topic, writer, groups]) => [topic, writer, groups!.split(",").map((group) => group.trim())],
  );
  const services = PROCESSES.filter(({ schema }) => schema !== undefined);
  const consumers = services.flatMap(({ folder }) =>
    [...readText(`${folder}/src/consumers.ts`).matchAll(/group: "(.+)",\s*topics: \["(.+)"\]/g)].map(
      ([, group, topic]) => ({ group: group!, topic: topic! }),
    ),
  );
  // A service without events has no file events.ts.
  const publishers = services.filter(({ folder }) => existsSync(join(ROOT, folder, "src/events.ts")));
  const topics = publishers.map(({ name, folder }) => {
    const topic = /const TOPIC = "(.+)";/.exec(readText(`${folder}/src/events.ts`))![1]!;
    const groups = consumers.filter((consumer) => consumer.topic === topic).map(({ group }) => group);
    return [topic, name, groups.length === 0 ? [""] : groups.sort()];
  });
  expect(listed).toEqual(topics.sort());
  const all = services.map(({ folder }) => readText(`${folder}/src/consumers.ts`)).join("\n");
  expect(all.match(/\bgroup: "/g)).toHaveLength(
    topics.flatMap(([, , groups]) => groups).filter(Boolean).length,
  );
});

test("a monthly restart loads the new certificate before the expiry alert fires", () => {
  const { mtls } = parse(readText("helm/wonrail/values.yaml")) as {
    mtls: { certManager: { renewBefore: string } };
  };
  const [, alarmDays] = /_expiry_timestamp_seconds\) - time\(\) <= (\d+) \* 86400/.exec(
    readText("deploy/prometheus/rules/alerts.yaml"),
  )!;
  expect(parseInt(mtls.certManager.renewBefore, 10) / 24).toBeGreaterThanOrEqual(31 + Number(alarmDays));
});

/** Positions of the steps in a text, which give their order. */
const placesOf = (text: string, steps: string[]) => steps.map((step) => text.indexOf(step));

test("after a leak callers are admitted only with a new secret key and without old keys", () => {
  const steps = [
    "--status SUSPENDED",
    "org rotate-secret",
    "key list",
    "key revoke",
    "list once more",
    "key issue",
  ];
  const places = placesOf(pageOf("leaked-key"), [...steps, "--status ACTIVE"]);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
});

test("the page saves newer changes before a restore and repeats them before it admits customers", () => {
  const section = pageOf("backup");
  const again = ["org rotate-secret", "key revoke", "--status SUSPENDED", "key issue"];
  const places = placesOf(section, [
    "restore plan --to",
    "--topic wonrail.auth.v1",
    "wonrail-chain-relayer --replicas=0",
    "Give the Secrets back",
    "services.chain-relayer.replicas=0",
    ...again,
    "npx wonrail restore reenter",
    "wonrail-chain-relayer --replicas=2",
    "npx wonrail restore prepare",
    "npx wonrail restore verify",
    "npx wonrail restore resume",
    "scale deployment/wonrail-gateway --replicas=",
  ]);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const actions = ["issueKey", "refreshKey", "revokeKey", "rotateSecretKey", "setOrganisation"].map(
    (command) => /action: "(\w+)",[^]*/.exec(readText(`services/auth/src/commands/${command}.ts`))![1]!,
  );
  const documented = actions.filter((action) => section.includes(`\`${action}\``));
  expect(documented).toEqual(actions.filter((action) => action !== "key_given_again"));
});

test("a new operator's key has the role and coins before it is used, and the old one loses its role last", () => {
  const places = placesOf(pageOf("keys").split("\n### The operator key\n")[1]!, [
    "--create",
    "Send it coins",
    "grant-operator",
    "generic wonrail-operator",
    "from chain_relayer.transactions",
    "revoke-operator",
  ]);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test("each URL of Postgres on the page about installing uses TLS, with the authority where the chart mounts it", () => {
  const urls = [...install.matchAll(/postgresql:\/\/[^\s"]+/g)].map(([url]) => url);
  expect(urls.length).toBeGreaterThanOrEqual(2);
  expect(urls.filter((url) => !url.endsWith("?$tls"))).toEqual([]);
  const [, file] = /^tls='sslmode=verify-full&sslrootcert=(\S+)'$/m.exec(install)!;
  const mount = /mountPath: (\S+),/.exec(
    readText("helm/wonrail/templates/_environment.tpl").split('define "wonrail.postgresAuthorityMount"')[1]!,
  );
  expect(file).toBe(`${mount![1]}/ca.crt`);
  const { postgres } = parse(readText("helm/wonrail/values-production.yaml")) as {
    postgres: { caSecret: string };
  };
  expect(install).toContain(`secret generic ${postgres.caSecret} --from-file=ca.crt`);
});
