import { withDatabase } from "../database";
import { type Organisation, type WorldAccess } from "../access";

/** How the relayer says that an entry or hold ended on the chain. */
export interface Settlement {
  organisation: string;
  ledgerRef: string;
  state: string;
  operationId: string | null;
  /** The authorizations that it uses. */
  legs: { fromWalletId: string; nonce: string }[];
  proof: { blockNumber: number; blockHash: string } | null;
  /** When the last authorization that custody signed for it ends; null without one. */
  validUntilMs: number | null;
}

export async function readSettlements(
  access: WorldAccess,
  { id, code }: Organisation,
): Promise<Settlement[]> {
  const ends = await withDatabase(access, "wallet", (rows) =>
    rows<{ ledgerRef: string; validUntil: Date }>(
      `select ledger_ref as "ledgerRef", max(valid_before) as "validUntil"
       from authorizations where org_id = $1 group by ledger_ref`,
      [id],
    ),
  );
  const endOf = new Map(ends.map(({ ledgerRef, validUntil }) => [ledgerRef, validUntil.getTime()]));
  const operations = await withDatabase(access, "chain-relayer", (rows) =>
    rows<OperationRow>(
      `select ledger_ref as "ledgerRef", state, operation_id as "operationId", steps,
              proof_block_number::float8 as "blockNumber", proof_block_hash as "blockHash"
       from operations where org_id = $1 order by org_sequence`,
      [id],
    ),
  );
  return operations.map(({ ledgerRef, state, operationId, steps, blockNumber, blockHash }) => ({
    ...{ organisation: code, ledgerRef, state, operationId },
    legs: steps.flatMap(({ fromWalletId, nonce }) =>
      fromWalletId && nonce ? [{ fromWalletId, nonce }] : [],
    ),
    proof: blockNumber === null || blockHash === null ? null : { blockNumber, blockHash },
    validUntilMs: endOf.get(ledgerRef) ?? null,
  }));
}

interface OperationRow extends Pick<Settlement, "ledgerRef" | "state" | "operationId"> {
  steps: { fromWalletId: string | null; nonce: string | null }[];
  blockNumber: number | null;
  blockHash: string | null;
}
