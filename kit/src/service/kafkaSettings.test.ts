import { z } from "zod";
import { makeAuthority } from "../testing/certificates";
import { loadConfig } from "../config";
import { serviceShape } from "./config";
import { kafkaSettings } from "./kafkaSettings";

const place = (env: Record<string, string>) =>
  kafkaSettings(
    loadConfig(z.object(serviceShape), {
      DATABASE_URL: "postgres://own/db",
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: "0",
      OPS_PORT: "0",
      KAFKA_BROKERS: "a:1,b:2",
      ...env,
    }),
  );
const CA = makeAuthority("brokers").issue("kafka", []).ca.toString();
const credentials = { KAFKA_USERNAME: "auth", KAFKA_PASSWORD: "secret" };

test.each([
  [{ KAFKA_REPLICATION: "1" }, { replication: 1 }],
  [{ KAFKA_TLS: "true" }, { ssl: true }],
  [{ KAFKA_TLS: "true", KAFKA_CA: CA }, { ssl: { ca: CA } }],
  [
    { KAFKA_SASL: "scram-sha-512", ...credentials },
    { sasl: { mechanism: "scram-sha-512", username: "auth", password: "secret" } },
  ],
  [
    { KAFKA_SASL: "plain", KAFKA_TLS: "true", ...credentials },
    { ssl: true, sasl: { mechanism: "plain", username: "auth", password: "secret" } },
  ],
])("%j is %j", (env, expected) => {
  expect(place(env)).toMatchObject(expected);
});

test("asks for three replicas and no TLS by default", () => {
  expect(place({})).toEqual({ brokers: ["a:1", "b:2"], replication: 3 });
});

test("has no Kafka when the feeds are the only transport", () => {
  expect(place({ BUS: "feed" })).toBeUndefined();
});
