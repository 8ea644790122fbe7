import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { parseWon, won } from "@wonrail/kit/contract/money";
import { cancellableUntil, chargeStatus } from "../../domain/charge";
import { type CancelChargeInput } from "../../domain/operation";
import { checkChargeId, checkMemo, checkPositive } from "../../domain/rules";
import { chargeCancelled } from "../../events";
import { cancellationMessage, chargeMessage } from "../../messages";
import * as charges from "../../store/charges";
import { findSettlements } from "../../store/settlements";
import { type Flow, type Posted, type Recorded, TooEarlyError } from "./flow";
import { recordInOrder } from "./recordInOrder";

/** A charge is taken back, wholly or in parts. What remains, and whether there is still time, the ledger knows. */
export const cancelCharge: Flow<"cancelCharge", CancelChargeInput> = {
  async prepare(_facts, _orgId, { chargeId, amountWon, memo }) {
    if (amountWon !== undefined) checkPositive(parseWon(amountWon, "amount"), "amount");
    const noted = checkMemo(memo);
    checkChargeId(chargeId);
    return { kind: "CANCEL_CHARGE", chargeId, amountWon: amountWon ?? null, memo: noted };
  },

  intent: ({ chargeId, amountWon }) => ({
    $case: "cancelCharge",
    value: { chargeRequestId: chargeId, amountWon: amountWon ?? undefined },
  }),

  relatedId: ({ chargeId }) => chargeId,

  async record(tx, posted, facts) {
    // Parts of one charge stay in their order.
    return recordInOrder(posted, ({ operation }) => operation.input.chargeId, recordOne);

    async function recordOne({ operation, entry }: Posted<CancelChargeInput>): Promise<Recorded> {
      const { orgId, operationId, input } = operation;
      assert(
        entry.result?.$case === "chargeCancelled",
        `${operationId} was not posted as a charge's cancellation`,
      );
      // The line on the wallet: what left it.
      const amountWon = won(
        -BigInt(entry.postings.find((posting) => posting.accountId.startsWith("wal_"))!.amountWon),
      );
      const cancel = {
        orgId,
        cancelId: operationId,
        chargeId: input.chargeId,
        amountWon,
        memo: input.memo,
        createdAt: entry.postedAt!,
      };
      const cancelledWon = won(BigInt(entry.result.value.cancelledWon));
      const [charge, settlements] = await Promise.all([
        charges.cancelCharge(tx, cancel, cancelledWon),
        findSettlements(tx, orgId, [input.chargeId]),
      ]);
      if (!charge) throw new TooEarlyError();
      // The answer is about this part; the event about the charge at its version, by which its readers go.
      const settlement = settlements.get(input.chargeId);
      const answered = chargeMessage({ ...charge, cancelledWon }, facts.network, settlement);
      const told = chargeMessage(charge, facts.network, settlement);
      const cancellation = cancellationMessage(operationId, facts.network);
      return {
        outcome: {
          $case: "cancelledCharge",
          value: { cancelId: operationId, charge: answered, cancellation },
        },
        event: chargeCancelled(
          charge,
          { cancelId: operationId, amountWon: amountWon.toString(), charge: told },
          operation,
        ),
      };
    }
  },

  async refusal(tx, { orgId, createdAt, input: { chargeId } }, refused) {
    if (refused.code !== "CHG_002") return refused;
    const charge = await charges.findCharge(tx, orgId, chargeId);
    if (!charge) return refused;
    if (chargeStatus(charge) === "CANCELLED") return toErrorDetail(new DomainError("CHG_003", { chargeId }));
    return createdAt > cancellableUntil(charge) ? toErrorDetail(new DomainError("CHG_004")) : refused;
  },
};
