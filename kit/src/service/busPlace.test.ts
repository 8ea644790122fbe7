import { z } from "zod";
import { makeAuthority } from "../certificates";
import { loadConfig } from "../config";
import { busPlace } from "./busPlace";
import { serviceShape } from "./config";

const place = (env: Record<string, string>) =>
  busPlace(
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
  [{}, { kind: "kafka", brokers: ["a:1", "b:2"] }],
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
  [{ BUS: "postgres" }, { kind: "postgres", url: "postgres://own/db" }],
  [
    { BUS: "postgres", BUS_DATABASE_URL: "postgres://bus/db" },
    { kind: "postgres", url: "postgres://bus/db" },
  ],
])("%j is %j", (env, expected) => {
  expect(place(env)).toMatchObject(expected);
});

test("nothing of it without being asked", () => {
  expect(place({})).toEqual({ kind: "kafka", brokers: ["a:1", "b:2"] });
});
