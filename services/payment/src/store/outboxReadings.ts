import { type Queryable, sql } from "@wonrail/kit/db";

/** 0 before the first. */
export async function findReading(db: Queryable, service: string): Promise<bigint> {
  const row = await db.maybe<{ position: bigint }>(
    sql`select position from outbox_readings where service = ${service}`,
  );
  return row?.position ?? 0n;
}

/** False when another replica has moved it meanwhile. */
export async function moveReading(
  db: Queryable,
  service: string,
  from: bigint,
  position: bigint,
): Promise<boolean> {
  const moved = await db.run(sql`
    insert into outbox_readings (service, position) values (${service}, ${position})
    on conflict (service) do update set position = excluded.position where outbox_readings.position = ${from}`);
  return moved === 1;
}
