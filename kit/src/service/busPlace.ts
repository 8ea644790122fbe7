import { type KafkaBusOptions, type PostgresBusOptions } from "../bus/port";
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
  if (KAFKA_USERNAME === undefined || KAFKA_PASSWORD === undefined)
    throw new Error("KAFKA_SASL is set: KAFKA_USERNAME and KAFKA_PASSWORD have to be, too");
  if (KAFKA_SASL === "plain" && !KAFKA_TLS)
    throw new Error("KAFKA_SASL is plain: without KAFKA_TLS the password would be readable on the network");
  place.sasl = { mechanism: KAFKA_SASL, username: KAFKA_USERNAME, password: KAFKA_PASSWORD };
  return place;
}
