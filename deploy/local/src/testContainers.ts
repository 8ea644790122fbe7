import { KafkaContainer } from "@testcontainers/kafka";
import { PostgreSqlContainer } from "@testcontainers/postgresql";

const POSTGRES_IMAGE = "postgres:18";
const KAFKA_IMAGE = "confluentinc/cp-kafka:8.1.1";
const KAFKA_PORT = 9093;

/** If a Docker engine answers, tests use the images of production. */
export async function containerPostgres() {
  const container = await new PostgreSqlContainer(POSTGRES_IMAGE)
    .withUsername("postgres")
    .withDatabase("postgres")
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=200"])
    .start();
  return {
    env: { WONRAIL_TEST_POSTGRES_URL: container.getConnectionUri() },
    label: `PostgreSQL in Docker (${POSTGRES_IMAGE})`,
    stop: async () => void (await container.stop()),
  };
}

export async function containerKafka() {
  const container = await new KafkaContainer(KAFKA_IMAGE).withKraft().start();
  return {
    env: { WONRAIL_TEST_KAFKA_BROKERS: `${container.getHost()}:${container.getMappedPort(KAFKA_PORT)}` },
    label: `Kafka in Docker (${KAFKA_IMAGE})`,
    stop: async () => void (await container.stop()),
  };
}
