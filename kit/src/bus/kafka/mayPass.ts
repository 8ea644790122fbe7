/** Whether the same may succeed later. */
export function mayPass(error: unknown): boolean {
  const { name, retriable } = error as { name?: string; retriable?: boolean };
  // A TypeError is how kafkajs says that no broker took a request for metadata.
  return retriable === true || name === "KafkaJSNumberOfRetriesExceeded" || name === "TypeError";
}
