import { DEPLOYED, readText } from "../ops/repository";

interface Setting {
  name: string;
  fallback: string;
  meaning: string;
}

/** Renders docs/reference/configuration.md: every environment variable, from the config.ts of each process. */
export function renderConfiguration(): string {
  const files = ["kit/src/tls.ts", "kit/src/tracing.ts", "kit/src/service/config.ts"];
  const shared = readSettings(files.map(readText).join("\n"));
  const own = DEPLOYED.map(({ name, folder }) => {
    const rows = readSettings(readText(`${folder}/src/config.ts`));
    return `## ${name}\n\n${renderTable(rows)}\n`;
  });
  return `<!-- Generated from the config.ts of each process by npm run docs; do not edit. -->

# Configuration

Environment variables configure every process. \`NAME_FILE\` names a file that holds the value of
\`NAME\`. A process with an invalid configuration lists all problems and exits with code 78.
The chart sets the variables from its [values](chart.md).

A setting without a default is required, unless its meaning says otherwise.

## Every service

The gateway and the console use \`TLS_*\` and tracing only, and their own tables below.

${renderTable(shared)}

${own.join("\n")}
## The local stack

| Variable | Meaning |
|---|---|
| \`WONRAIL_HOME\` | folder for data, logs and \`stack.json\`; default \`.wonrail\` |
| \`WONRAIL_BUS\` | \`kafka\` or \`feed\`; default: Kafka where the machine can run it |
| \`WONRAIL_MTLS\` | \`true\`: the services talk by mutual TLS |
| \`KAFKA_BROKERS\` | brokers that run already |
| \`WONRAIL_POSTGRES_URL\` | superuser's URL of a PostgreSQL that runs already |
| \`NO_COLOR\` | plain output |
`;
}

function renderTable(settings: Setting[]): string {
  const rows = settings.map(
    ({ name, fallback, meaning }) =>
      `| \`${name}\` | ${fallback} | ${asCode(meaning) || MEANINGS[name] || ""} |`,
  );
  return `| Variable | Default | Meaning |\n|---|---|---|\n${rows.join("\n")}`;
}

function asCode(meaning: string): string {
  return meaning.replaceAll(/https?:\/\/[\w.:/-]*\w/g, "`$&`");
}

/** Settings whose declaration has no comment because every developer knows them. */
const MEANINGS: Record<string, string> = {
  NODE_ENV: "`production` except in development and tests",
  LOG_LEVEL: "lowest level that is logged",
  COMMIT: "commit that the image was built from; shown by `build_info`",
  HTTP_HOST: "address of the HTTP server",
  HTTP_PORT: "port of the HTTP server",
  OPS_HOST: "address of `/livez`, `/readyz` and `/metrics`",
  OPS_PORT: "port of `/livez`, `/readyz` and `/metrics`",
  GRPC_HOST: "address of the gRPC server",
  GRPC_PORT: "port of the gRPC server",
  GRPC_REFLECTION: "`true` lets gRPC clients list the methods",
  DATABASE_URL: "role and database of the service",
  DATABASE_POOL_MAX: "size of the connection pool",
  KAFKA_BROKERS: "`host:port`, separated by commas; required when `BUS` is `kafka`",
  KAFKA_TLS: "`true` connects to the brokers by TLS",
  KAFKA_SASL: "`plain`, `scram-sha-256` or `scram-sha-512`; optional",
  KAFKA_USERNAME: "required with `KAFKA_SASL`",
  KAFKA_PASSWORD: "required with `KAFKA_SASL`",
  AUTH_ADDRESS: "`host:port` of auth; calls are spread over all addresses of the name",
  WALLET_ADDRESS: "`host:port` of wallet",
  LEDGER_ADDRESS: "`host:port` of ledger",
  PAYMENT_ADDRESS: "`host:port` of payment",
  RELAYER_ADDRESS: "`host:port` of chain-relayer",
  EVENTS_ADDRESS: "`host:port` of events",
  TLS_CERT: "certificate of this process as PEM; usually `TLS_CERT_FILE`",
  TLS_KEY: "its private key; usually `TLS_KEY_FILE`",
  TLS_CA: "authority of the other processes; usually `TLS_CA_FILE`",
  CHAIN_ID: "chain of signatures and settlement",
  TOKEN_ADDRESS: "address of the token",
  PAYMENT_MANAGER_ADDRESS: "address of the payment manager",
  NETWORK: "`WON_TESTNET` or `WON_MAINNET`",
  CHAIN_RPC_TIMEOUT_MS: "longest time for one answer of an endpoint",
  FEE_CAP_GWEI: "highest fee per gas that a transaction may offer",
  KEY_LIFETIME_HOURS: "lifetime of a new API key",
  MAX_CONNECTIONS: "connections at once",
  REQUEST_TIMEOUT_MS: "longest time until a request has arrived whole",
  MAX_REQUESTS_PER_SOCKET: "requests until a connection is closed",
  MAX_STEPS: "most steps in one transaction",
  LEASE_MS: "lease of the active writer",
  RESEND_AFTER_MS: "time until an unseen transaction is sent again",
  REPLACE_AFTER_MS: "time until a waiting transaction is replaced with a higher fee",
  AUTHORIZATION_LIFE_MS: "validity of a signed authorization",
  RECONCILE_EVERY_MS: "pause between two comparisons of chain and ledger",
  MAX_QUEUE: "requests that may wait, per queue",
};

/** Reads the zod shapes as text: one setting per line, its comment above it. */
function readSettings(text: string): Setting[] {
  let comment = "";
  const found: Setting[] = [];
  for (const line of text.split("\n")) {
    const [, name, schema] = /^ {2}([A-Z][A-Z0-9_]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      const isKnown = found.some((setting) => setting.name === name);
      if (!isKnown) found.push({ name, fallback: defaultIn(schema!), meaning: comment.trim() });
      comment = "";
      continue;
    }
    const [, words] = /^ {2}(?:\/\*\*| \*)\s?(.*?)\s*(?:\*\/)?$/.exec(line) ?? [];
    // A default on a line of its own belongs to the setting above.
    const late = defaultIn(line);
    if (late !== "" && found.length > 0) found.at(-1)!.fallback ||= late;
    comment = words === undefined ? "" : `${comment} ${words === "/" ? "" : words}`;
  }
  return found;
}

function defaultIn(schema: string): string {
  const [, value] = /\.default\(([^)]*)\)/.exec(schema) ?? [];
  if (value === undefined) return /\.optional\(\)/.test(schema) ? "none" : "";
  const plain = value.replaceAll(/(?<=\d)_(?=\d)|n$|"/g, "");
  const product = /^(\d+) \* (\d+)$/.exec(plain);
  return product ? `\`${Number(product[1]) * Number(product[2])}\`` : `\`${plain || '""'}\``;
}
