import { type KafkaBusOptions } from "../bus/port";
import { assert } from "../contract/errors";
import { type ServiceConfig } from "./config";

type Place = Omit<KafkaBusOptions, "clientId" | "log" | "registry">;

/** The brokers and the credentials; undefined when the feeds are the only transport. */
export function kafkaSettings(config: ServiceConfig): Place | undefined {
  if (config.BUS === "feed") return undefined;
  const { KAFKA_TLS, KAFKA_CA, KAFKA_SASL, KAFKA_USERNAME, KAFKA_PASSWORD } = config;
  const place: Place = { brokers: config.KAFKA_BROKERS, replication: config.KAFKA_REPLICATION };
  if (KAFKA_TLS) place.ssl = KAFKA_CA === undefined ? true : { ca: KAFKA_CA };
  if (KAFKA_SASL === undefined) return place;
  assert(KAFKA_USERNAME !== undefined && KAFKA_PASSWORD !== undefined, "the configuration was checked");
  place.sasl = { mechanism: KAFKA_SASL, username: KAFKA_USERNAME, password: KAFKA_PASSWORD };
  return place;
}
