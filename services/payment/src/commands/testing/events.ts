import { tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { newId } from "@wonrail/kit/contract/ids";
import { rawSql } from "@wonrail/kit/db";
import { consumers } from "../../consumers";
import { type World } from "./world";

/** Hands an event to the consumer that takes its type, as the inbox does: in one transaction. */
export async function deliver(world: World, type: string, payload: Uint8Array): Promise<void> {
  const handler = consumers(world.app())
    .map(({ handlers }) => handlers[type])
    .find((found) => found !== undefined);
  const event = {
    id: newId("evt"),
    type,
    orgId: world.orgId,
    requestId: newId("req"),
    traceparent: "",
    payload: Buffer.from(payload),
  } as ReceivedEvent;
  await tx(world.payment.db, (tx) =>
    typeof handler === "function" ? handler(tx, event) : handler!.all(tx, [event]),
  );
}

/** What was published about one thing, in order: "type version". */
export async function published({ payment }: World, aggregateId: string): Promise<string[]> {
  const rows = await payment.db.query<{ type: string; version: bigint }>(
    rawSql(`select type, version from outbox where aggregate_id = '${aggregateId}' order by id`),
  );
  return rows.map(({ type, version }) => `${type} ${version}`);
}
