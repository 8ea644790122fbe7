/** True when a retry may succeed. */
export function isTransientKafkaError(error: unknown): boolean {
  const { name, retriable } = error as { name?: string; retriable?: boolean };
  // kafkajs throws a TypeError when no broker answered a request for metadata.
  return retriable === true || name === "KafkaJSNumberOfRetriesExceeded" || name === "TypeError";
}
