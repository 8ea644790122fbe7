import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import { type Change } from "../domain/change";
import { issuedKey, keyChange } from "../domain/keys";
import { deleteKey, saveKey } from "../store/apiKeys";
import { publishChanges } from "./publishChanges";

/** Publishes issued keys, and keeps those that can still expire. The aggregate of each event is the key. */
export async function projectKeys(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, () => events.flatMap((event) => changeOf(tx, event) ?? []));
}

function changeOf(
  tx: Tx,
  { id, type, orgId, aggregateId, occurredAt, payload }: ReceivedEvent,
): Change | undefined {
  if (type !== "key_issued") {
    deleteKey(tx, orgId, aggregateId);
    return undefined;
  }
  const key = issuedKey(orgId, KeyIssued.decode(payload));
  saveKey(tx, key);
  return keyChange({ sourceId: id, occurredAt }, key, "api_key.issued");
}
