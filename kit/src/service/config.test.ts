import { z } from "zod";
import { loadConfig } from "../config";
import { serviceRules, serviceShape } from "./config";

const SOUND = {
  DATABASE_URL: "postgres://own/db",
  GRPC_PORT: "0",
  OPS_PORT: "0",
  KAFKA_BROKERS: "kafka:9092",
};
const PEM = "-----BEGIN ";

function problemsOf(env: Record<string, string>): string[] {
  const refuse = (message: string): never => {
    throw new Error(message);
  };
  try {
    loadConfig(z.object(serviceShape), { ...SOUND, ...env }, serviceRules, refuse);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1, -1);
  }
}

test.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ KAFKA_BROKERS: "" }, ["KAFKA_BROKERS is not set: BUS is kafka"]],
  [{ KAFKA_BROKERS: " , " }, ["KAFKA_BROKERS is not set: BUS is kafka"]],
  [{ KAFKA_BROKERS: "kafka:9092,kafka" }, ["KAFKA_BROKERS: must be host:port,…"]],
  [{ BUS: "postgres", KAFKA_BROKERS: "", KAFKA_SASL: "plain" }, []],
  [
    { KAFKA_SASL: "scram-sha-256" },
    ["KAFKA_USERNAME is not set: KAFKA_SASL is", "KAFKA_PASSWORD is not set: KAFKA_SASL is"],
  ],
  [
    { KAFKA_SASL: "plain", KAFKA_USERNAME: "auth", KAFKA_PASSWORD: "secret" },
    ["KAFKA_SASL is plain: without KAFKA_TLS the password would be readable on the network"],
  ],
  [{ KAFKA_SASL: "plain", KAFKA_TLS: "true", KAFKA_USERNAME: "auth", KAFKA_PASSWORD: "secret" }, []],
  [{ TLS_CERT: PEM, TLS_KEY: PEM, TLS_CA: PEM }, []],
  [{ TLS_CERT: PEM, TLS_KEY: PEM }, ["TLS_CA_FILE is not set: the three of TLS go together"]],
  [
    { TLS_CA: PEM },
    [
      "TLS_CERT_FILE is not set: the three of TLS go together",
      "TLS_KEY_FILE is not set: the three of TLS go together",
    ],
  ],
  [{ TLS_CA: "no PEM" }, ["TLS_CA: is not PEM"]],
  [
    {
      GRPC_PORT: "",
      TLS_CERT: PEM,
      TLS_KEY: PEM,
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
])("with %j a service says %j", (env, problems) => {
  expect(problemsOf(env)).toEqual(problems.map((problem) => `  - ${problem}`));
});
