import { type Database, tx } from "@wonrail/kit/db";
import { refusedFields } from "@wonrail/kit/contract/errors";
import { enumValue, type PromiseClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { appendEvents } from "@wonrail/kit/outbox";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import { type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type Wallet } from "../domain/wallet";
import { walletCreated } from "../events";
import { findWallet, moveWallet } from "../store/wallets";

export type LedgerClient = PromiseClient<LedgerServiceService>;

export interface OpenAccountDeps {
  db: Database;
  ledger: LedgerClient;
}

/** The last step of a wallet's making: its ledger account, then ACTIVE with this metadata. Both may be done again; the metadata is the first's. */
export async function openAccount({ db, ledger }: OpenAccountDeps, wallet: Wallet): Promise<Wallet> {
  const { orgId, walletId, userId, walletType, metadata } = wallet;
  const post = (requestId: string) =>
    ledger.post(
      {
        context: { orgId, requestId: "", traceparent: "" },
        requestId,
        metadata: {},
        intent: {
          $case: "openAccount",
          value: { walletId, userId, type: enumValue(AccountType, walletType) },
        },
      },
      { retry: true },
    );
  // Opening the same wallet again changes nothing, so the wallet's own id is request id enough; any other is as good, where that one is of a clock that was
  // months off: the journal does not reach there.
  await post(walletId).catch((error: unknown) => {
    if (!refusedFields(error).includes("requestId")) throw error;
    return post(newId("req"));
  });
  return tx(db, async (tx) => {
    const opened = await moveWallet(tx, wallet, { from: ["OPENING"], to: "ACTIVE", metadata });
    if (!opened) return (await findWallet(tx, orgId, walletId))!;
    await appendEvents(tx, [walletCreated(opened)]);
    return opened;
  });
}
