import { newId } from "@wonrail/kit/contract/ids";
import { AuthorizationKind, type AuthorizationIntent, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { CHAIN_ID, openWorld, TOKEN, type World } from "./world";

export const WALLET_LIMIT = 10_000n;
const LIMITS = {
  SIGNING_LIMIT_WALLET_WON: WALLET_LIMIT,
  SIGNING_LIMIT_ORGANISATION_WON: 15_000n,
  SIGNING_LIMIT_GLOBAL_WON: 1_000_000n,
};

interface MadeWallet {
  walletId: string;
  walletAddress: string;
}

/**
 * Custody with small limits. Creates an organisation with a payer and a payee for each test of a
 * file.
 */
export function signingBench() {
  const bench = {} as { world: World; orgId: string; payer: MadeWallet; payee: MadeWallet };
  beforeAll(async () => {
    bench.world = await openWorld(LIMITS);
  });
  afterAll(() => bench.world.close());
  beforeEach(async () => {
    bench.orgId = newId("org");
    bench.payer = await makeWallet(bench.orgId, "payer");
    bench.payee = await makeWallet(bench.orgId, "payee");
  });

  async function makeWallet(orgId: string, userId: string): Promise<MadeWallet> {
    const wish = { orgId, userId, walletType: WalletType.NORMAL, metadata: {} };
    return (await bench.world.client.createWallet(wish)).wallet!;
  }

  /** A wish to sign a transfer that the ledger has posted. */
  function transferOf(amountWon: bigint, from = bench.payer.walletId): AuthorizationIntent {
    const { world, orgId, payee } = bench;
    const ledgerRef = newId("trf");
    world.ledger.addTransfer({ orgId, ledgerRef, from, to: payee.walletId, amountWon });
    return {
      orgId,
      ledgerRef,
      fromWalletId: from,
      toAddress: payee.walletAddress,
      amountWon: amountWon.toString(),
      nonce: nonceOf(1),
      validBefore: secondsFromNow(600),
      chainId: BigInt(CHAIN_ID),
      tokenAddress: TOKEN,
      kind: AuthorizationKind.TRANSFER,
    };
  }

  /** The signature in hex or the reason of the refusal, of each. */
  async function sign(...intents: AuthorizationIntent[]): Promise<string[]> {
    const { signatures } = await bench.world.client.signAuthorizations({ intents });
    return signatures.map(({ outcome }) => {
      if (outcome?.$case === "signature") return `0x${Buffer.from(outcome.value).toString("hex")}`;
      return (JSON.parse(outcome!.value.detailsJson!) as { reason: string }).reason;
    });
  }

  return Object.assign(bench, { makeWallet, transferOf, sign });
}

export function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(32);
  nonce.writeUInt32BE(number, 28);
  return nonce;
}

export function secondsFromNow(seconds: number): bigint {
  return BigInt(Math.floor(Date.now() / 1000) + seconds);
}
