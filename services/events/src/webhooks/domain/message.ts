/** The parts of the body of a delivery. */
export interface DeliveredEvent {
  eventId: string;
  eventType: string;
  objectId: string;
  /** Null for a test. */
  sequence: bigint | null;
  /** When the delivery was made. */
  createdAt: Date;
  /** Null when the event has been deleted. */
  event: { objectSequence: bigint; createdAt: Date; dataJson: string } | null;
}

/** The body of a delivery: the event as GET /api/events/{eventId} answers it. Null when the event has been deleted. */
export function messageOf({
  eventId,
  eventType,
  objectId,
  sequence,
  createdAt,
  event,
}: DeliveredEvent): string | null {
  if (sequence === null) {
    const place = { eventId, type: eventType, sequence: 0, objectId, objectSequence: 0 };
    return JSON.stringify({ ...place, createdAt: createdAt.toISOString(), data: { webhookId: objectId } });
  }
  if (event === null) return null;
  const place = { eventId, type: eventType, sequence: Number(sequence), objectId };
  const head = {
    ...place,
    objectSequence: Number(event.objectSequence),
    createdAt: event.createdAt.toISOString(),
  };
  // The data is JSON already.
  return `${JSON.stringify(head).slice(0, -1)},"data":${event.dataJson}}`;
}
