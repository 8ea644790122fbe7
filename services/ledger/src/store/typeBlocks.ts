import { named, sql, type Tx } from "@wonrail/kit/db";
import type { Changes } from "../domain/book";
import { typesOf } from "../domain/typeBits";
import { transactionTypes } from "./codes";

/** Notes which types each block of postings has that this batch filled. */
export function insertTypeBlocks(tx: Tx, blocks: Changes["typeBlocks"]): void {
  const rows = blocks.flatMap(({ accountNumber, types, sequence }) =>
    typesOf(types).map((type) => ({ accountNumber, type: transactionTypes.toCode(type), sequence })),
  );
  tx.push(
    named(
      "type_blocks_insert",
      sql`
        insert into type_blocks (account_number, type, sequence)
        select * from unnest(
          ${rows.map(({ accountNumber }) => accountNumber)}::bigint[],
          ${rows.map(({ type }) => type)}::smallint[],
          ${rows.map(({ sequence }) => sequence)}::bigint[])`,
    ),
  );
}
