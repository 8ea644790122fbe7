import { type Database } from "@wonrail/kit/db";
import {
  AuthorizationKind,
  type AuthorizationIntent,
  type SignedAuthorization,
} from "@wonrail/proto/wallet/v1/wallet";
import { type Operation } from "../store/operations";
import { type WalletClient } from "./learnAddresses";

export interface AuthorizeDeps {
  db: Database;
  wallet: WalletClient;
  chain: { chainId: bigint; tokenAddress: string };
  authorizationLifeSeconds: bigint;
}

/** An operation with the signatures of its steps, or why custody does not give them. */
export interface Authorized {
  operation: Operation;
  validBefore: bigint;
  /** One for each step; empty for a mint. */
  signatures: Uint8Array[];
  reason: string | null;
}

const AT_ONCE = 500;
const NO_SIGNATURE = new Uint8Array(0);

/** Has custody sign every leg of these operations. An authorization ends after a while of chain time, and a hold's never after its own end. */
export async function authorize(
  deps: AuthorizeDeps,
  operations: Operation[],
  addresses: Map<string, string>,
  chainTime: bigint,
): Promise<Authorized[]> {
  const authorized = operations.map((operation): Authorized => {
    const end = chainTime + deps.authorizationLifeSeconds;
    const limit =
      operation.expiresAt === null ? end : BigInt(Math.floor(operation.expiresAt.getTime() / 1000));
    const unknown = operation.steps.some(({ fromWalletId, toWalletId }) =>
      [fromWalletId, toWalletId].some((walletId) => walletId !== null && !addresses.has(walletId)),
    );
    return {
      operation,
      validBefore: end < limit ? end : limit,
      signatures: operation.steps.map(() => NO_SIGNATURE),
      reason: unknown ? "unknown_wallet" : null,
    };
  });
  const legs = authorized.flatMap((of) =>
    of.reason !== null
      ? []
      : of.operation.steps.flatMap((step, index) =>
          step.fromWalletId === null ? [] : [{ of, step, index }],
        ),
  );
  for (let start = 0; start < legs.length; start += AT_ONCE) {
    const part = legs.slice(start, start + AT_ONCE);
    const intents = part.map(({ of, step }): AuthorizationIntent => ({
      orgId: of.operation.orgId,
      ledgerRef: of.operation.ledgerRef,
      fromWalletId: step.fromWalletId!,
      toAddress: step.kind === "BURN" ? "" : (step.toAddress ?? addresses.get(step.toWalletId!)!),
      amountWon: step.amountWon.toString(),
      nonce: Buffer.from(step.nonce, "hex"),
      validBefore: of.validBefore,
      chainId: deps.chain.chainId,
      tokenAddress: deps.chain.tokenAddress,
      kind: step.kind === "BURN" ? AuthorizationKind.BURN : AuthorizationKind.TRANSFER,
    }));
    const { signatures } = await deps.wallet.signAuthorizations({ intents });
    part.forEach(({ of, index }, place) => take(of, index, signatures[place]));
  }
  return authorized;
}

function take(of: Authorized, index: number, signed: SignedAuthorization | undefined): void {
  if (signed?.outcome?.$case === "signature") of.signatures[index] = signed.outcome.value;
  else of.reason = `custody_${reasonOf(signed)}`;
}

function reasonOf(signed: SignedAuthorization | undefined): string {
  const details = signed?.outcome?.$case === "error" ? signed.outcome.value.detailsJson : undefined;
  const parsed = details === undefined ? null : (JSON.parse(details) as { reason?: unknown });
  return typeof parsed?.reason === "string" ? parsed.reason : "refused";
}
