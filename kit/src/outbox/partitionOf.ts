import { createHash } from "node:crypto";

/**
 * The feed partition of an aggregate, and so the Kafka partition of its events: the first four bytes of
 * the SHA-256 of its id, as a big-endian number, modulo the number of partitions.
 */
export function partitionOf(aggregateId: string, partitions: number): number {
  return createHash("sha256").update(aggregateId).digest().readUInt32BE(0) % partitions;
}
