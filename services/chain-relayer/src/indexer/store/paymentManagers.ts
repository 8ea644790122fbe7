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

/** For a payment manager that never settled an operation. */
export async function deletePaymentManagers(tx: Tx): Promise<void> {
  await tx.run(sql`delete from payment_managers`);
}

/** Makes this payment manager the one in use, also when it was in use before. */
export async function savePaymentManager(tx: Tx, address: string): Promise<void> {
  await tx.run(sql`
    insert into payment_managers (address) values (${address.toLowerCase()})
    on conflict (address) do update set turn = default, adopted_at = now()`);
}
