import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import {
  type Charge,
  type ChargeCancel,
  chargeCancellationMessage,
  chargeMessage,
  withChangedMetadata,
} from "@wonrail/kit/records";
import { findCharge, listChargeCancels } from "../store/charges";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

interface CancelledCharge {
  charge: Charge;
  cancels: ChargeCancel[];
}

/** The charge and its newest cancellations, oldest first. */
export async function getCharge(
  deps: ReadDeps,
  key: RecordKey,
): Promise<{ charge: message.Charge; cancellations: message.ChargeCancellation[] }> {
  const found = await readRecord<CancelledCharge>(deps, key, {
    pick: ({ charge, chargeCancels: cancels }) =>
      charge?.chargeId === key.id ? { charge, cancels } : undefined,
    find: findCancelledCharge,
  });
  if (!found) throw new DomainError("CHG_002");
  const { charge, cancels } = found;
  const ids = [key.id, ...cancels.map(({ cancelId }) => cancelId)];
  const { settled, changed } = await readAdditions(deps, key.orgId, ids);
  return {
    charge: chargeMessage(withChangedMetadata({ charge }, changed).charge, settled),
    cancellations: cancels
      .map((chargeCancel) => withChangedMetadata({ chargeCancel }, changed).chargeCancel)
      .map((cancel) => chargeCancellationMessage(cancel, settled)),
  };
}

/** Reads one snapshot, so that the parts add up to the charge's cancelled amount. */
function findCancelledCharge(db: Database, orgId: string, id: string): Promise<CancelledCharge | undefined> {
  return tx(
    db,
    async (tx) => {
      const [charge, cancels] = await Promise.all([
        findCharge(tx, orgId, id),
        listChargeCancels(tx, orgId, id),
      ]);
      return charge && { charge, cancels };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
