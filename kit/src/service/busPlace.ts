import { type KafkaBusOptions, type PostgresBusOptions } from "../bus/port";
import { assert } from "../contract/errors";
import { type ServiceConfig } from "./config";

type Place<T> = Omit<T, "clientId" | "log" | "registry">;

/** Where the bus is and how to get in, from a service's configuration. */
export function busPlace(config: ServiceConfig): Place<KafkaBusOptions> | Place<PostgresBusOptions> {
  if (config.BUS === "postgres")
    return { kind: "postgres", url: config.BUS_DATABASE_URL ?? config.DATABASE_URL };
  const { KAFKA_TLS, KAFKA_CA, KAFKA_SASL, KAFKA_USERNAME, KAFKA_PASSWORD } = config;
  const place: Place<KafkaBusOptions> = { kind: "kafka", brokers: config.KAFKA_BROKERS };
  if (KAFKA_TLS) place.ssl = KAFKA_CA === undefined ? true : { ca: KAFKA_CA };
  if (KAFKA_SASL === undefined) return place;
  assert(KAFKA_USERNAME !== undefined && KAFKA_PASSWORD !== undefined, "the configuration was checked");
  place.sasl = { mechanism: KAFKA_SASL, username: KAFKA_USERNAME, password: KAFKA_PASSWORD };
  return place;
}
