import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { findEvent, type PublicEvent } from "../store/events";

export async function getEvent(
  { db }: { db: Database },
  { orgId, eventId }: { orgId: string; eventId: string },
): Promise<PublicEvent> {
  const event = await findEvent(db, orgId, eventId);
  if (!event) throw new DomainError("EVT_001");
  return event;
}
