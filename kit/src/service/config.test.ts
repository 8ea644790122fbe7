import { z } from "zod";
import { makeAuthority } from "../testing/certificates";
import { loadConfig } from "../config";
import { configProblems } from "../testing";
import { serviceRules, serviceShape } from "./config";

const SOUND = {
  DATABASE_URL: "postgres://own/db",
  GRPC_HOST: "127.0.0.1",
  GRPC_PORT: "0",
  OPS_PORT: "0",
  KAFKA_BROKERS: "kafka:9092",
};
const [CERT, KEY, CA] = identity();
const OTHER_KEY = identity()[1];
const BROKEN = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;

function identity(): [string, string, string] {
  const { cert, key, ca } = makeAuthority("authority").issue("payment", ["DNS:payment"]);
  return [cert.toString(), key.toString(), ca.toString()];
}

function problemsOf(env: Record<string, string>): string[] {
  return configProblems((exit) =>
    loadConfig(z.object(serviceShape), { ...SOUND, ...env }, serviceRules, exit),
  );
}

test.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ KAFKA_BROKERS: "" }, ["KAFKA_BROKERS is not set: BUS is kafka"]],
  [{ KAFKA_BROKERS: " , " }, ["KAFKA_BROKERS is not set: BUS is kafka"]],
  [{ KAFKA_BROKERS: "kafka:9092,kafka" }, ["KAFKA_BROKERS: must be host:port,…"]],
  [{ BUS: "feed", KAFKA_BROKERS: "", KAFKA_SASL: "plain" }, []],
  [
    { KAFKA_SASL: "scram-sha-256" },
    ["KAFKA_USERNAME is not set: KAFKA_SASL is", "KAFKA_PASSWORD is not set: KAFKA_SASL is"],
  ],
  [
    { KAFKA_SASL: "plain", KAFKA_USERNAME: "auth", KAFKA_PASSWORD: "secret" },
    ["KAFKA_SASL is plain: without KAFKA_TLS the password would be readable on the network"],
  ],
  [{ KAFKA_SASL: "plain", KAFKA_TLS: "true", KAFKA_USERNAME: "auth", KAFKA_PASSWORD: "secret" }, []],
  [{ KAFKA_CA: `${CA}\n${BROKEN}` }, ["KAFKA_CA: is no certificate in PEM"]],
  [{ DATABASE_POOL_MAX: "0" }, ["DATABASE_POOL_MAX: Too small: expected number to be >=1"]],
  [{ SHUTDOWN_GRACE_MS: "0" }, ["SHUTDOWN_GRACE_MS: Too small: expected number to be >=1"]],
  [{ TLS_CERT: CERT, TLS_KEY: KEY, TLS_CA: CA }, []],
  [{ TLS_CERT: `${CERT}${CA}`, TLS_KEY: KEY, TLS_CA: `the first:\n${CA}\n${CERT}` }, []],
  [
    { TLS_CERT: CERT, TLS_KEY: OTHER_KEY, TLS_CA: CA },
    ["TLS_KEY: is not the key of the certificate in TLS_CERT"],
  ],
  [
    { TLS_CERT: KEY, TLS_KEY: CERT, TLS_CA: CA },
    ["TLS_CERT: is no certificate in PEM", "TLS_KEY: is no private key in PEM, without a passphrase"],
  ],
  [
    { TLS_CERT: `${CERT}${BROKEN}`, TLS_KEY: KEY, TLS_CA: BROKEN },
    ["TLS_CERT: is no certificate in PEM", "TLS_CA: is no certificate in PEM"],
  ],
  [{ TLS_CERT: CERT, TLS_KEY: KEY }, ["TLS_CA_FILE is not set: the three of TLS go together"]],
  [
    { TLS_CA: CA },
    [
      "TLS_CERT_FILE is not set: the three of TLS go together",
      "TLS_KEY_FILE is not set: the three of TLS go together",
    ],
  ],
  [{ TLS_CA: "no PEM" }, ["TLS_CA: is no certificate in PEM"]],
  [
    {
      GRPC_PORT: "",
      TLS_CERT: CERT,
      TLS_KEY: KEY,
      KAFKA_BROKERS: "",
      KAFKA_SASL: "plain",
      KAFKA_USERNAME: "auth",
    },
    [
      "GRPC_PORT is not set",
      "TLS_CA_FILE is not set: the three of TLS go together",
      "KAFKA_BROKERS is not set: BUS is kafka",
      "KAFKA_PASSWORD is not set: KAFKA_SASL is",
      "KAFKA_SASL is plain: without KAFKA_TLS the password would be readable on the network",
    ],
  ],
])("with %j a service reports %j", (env, problems) => {
  expect(problemsOf(env)).toEqual(problems.map((problem) => `  - ${problem}`));
});

const UNIDENTIFIED =
  "  - TLS_CERT_FILE is not set: other machines can reach GRPC_HOST, and the service cannot identify callers without " +
  "certificates. Set TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, or ALLOW_UNIDENTIFIED_CALLERS=true";

test.each<[Record<string, string>, string[]]>([
  [{ GRPC_HOST: "0.0.0.0" }, [UNIDENTIFIED]],
  [{ GRPC_HOST: "" }, [UNIDENTIFIED]],
  [{ GRPC_HOST: "10.0.0.7" }, [UNIDENTIFIED]],
  [{ GRPC_HOST: "127.0.0.1.example.com" }, [UNIDENTIFIED]],
  [{ GRPC_HOST: "::1" }, []],
  [{ GRPC_HOST: "0.0.0.0", ALLOW_UNIDENTIFIED_CALLERS: "true" }, []],
  [{ GRPC_HOST: "0.0.0.0", TLS_CERT: CERT, TLS_KEY: KEY, TLS_CA: CA }, []],
])("a service with %j refuses callers that it cannot identify: %j", (env, problems) => {
  expect(problemsOf(env)).toEqual(problems);
});
