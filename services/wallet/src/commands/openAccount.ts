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

/** The last step: opens the ledger account, then sets ACTIVE. A repetition is safe. */
export async function openAccount({ db, ledger }: OpenAccountDeps, wallet: Wallet): Promise<Wallet> {
  const { orgId, walletId, userId, walletType } = wallet;
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
  // The wallet's id serves as request id: opening twice changes nothing. A wallet id from a wrong
  // clock lies in a month without a journal, so it gets another request id.
  await post(walletId).catch((error: unknown) => {
    if (!refusedFields(error).includes("requestId")) throw error;
    return post(newId("req"));
  });
  return tx(db, async (tx) => {
    const opened = await moveWallet(tx, wallet, { from: ["OPENING"], to: "ACTIVE" });
    if (!opened) return (await findWallet(tx, orgId, walletId))!;
    await appendEvents(tx, [walletCreated(opened)]);
    return opened;
  });
}
