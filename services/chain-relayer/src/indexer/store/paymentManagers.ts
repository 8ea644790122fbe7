import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** All payment managers of this database, in lower case; the last one is in use. */
export async function listPaymentManagers(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ address: string }>(sql`select address from payment_managers order by turn`);
  return rows.map(({ address }) => address);
}

/** Locks the list until the transaction ends. */
export async function lockPaymentManagers(tx: Tx): Promise<string[]> {
  await tx.run(sql`lock table payment_managers in exclusive mode`);
  return listPaymentManagers(tx);
}

/** Before anything was settled. */
export async function forgetPaymentManagers(tx: Tx): Promise<void> {
  await tx.run(sql`delete from payment_managers`);
}

/** Adopts this payment manager, also when it was adopted before. */
export async function takeIntoUse(tx: Tx, address: string): Promise<void> {
  await tx.run(sql`
    insert into payment_managers (address) values (${address.toLowerCase()})
    on conflict (address) do update set turn = default, adopted_at = now()`);
}
