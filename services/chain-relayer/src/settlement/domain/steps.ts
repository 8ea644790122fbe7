import { createHash } from "node:crypto";
import { smallest } from "@wonrail/kit/contract/bigints";
import { type Won, won } from "@wonrail/kit/contract/money";
import { type StepKind } from "../../evm";

/** One line of a ledger entry. */
export interface Line {
  accountId: string;
  amountWon: Won;
  sequence: bigint;
}

/** One movement of tokens. Wallets are named by id; their addresses are looked up at sending. */
export interface Step {
  kind: StepKind;
  fromWalletId: string | null;
  toWalletId: string | null;
  /** Only of a step to an outside address. */
  toAddress: string | null;
  amountWon: Won;
  /** 32 bytes in hex; empty for a mint, which needs no authorization. */
  nonce: string;
}

/** Limit of authorizations that one entry can need from one wallet. */
const LEGS_PER_LINE = 8n;

/**
 * Converts a ledger entry into steps. Money that leaves wallets goes to the gaining wallets, in the
 * order of the lines. A surplus returns to the organisation (burn), and a deficit comes from it
 * (mint).
 */
export function stepsOf(lines: readonly Line[]): Step[] {
  const wallets = netByWallet(lines);
  const payers = wallets
    .filter(({ net }) => net < 0n)
    .map((wallet) => ({ ...wallet, left: -wallet.net, legs: 0n }));
  const payees = wallets.filter(({ net }) => net > 0n).map((wallet) => ({ ...wallet, left: wallet.net }));
  const steps: Step[] = [];
  for (const payer of payers) {
    for (const payee of payees) {
      const amount = smallest(payer.left, payee.left);
      if (amount === 0n) continue;
      payer.left -= amount;
      payee.left -= amount;
      steps.push(leg("TRANSFER", payer, payee.accountId, amount));
    }
    if (payer.left > 0n) steps.push(leg("BURN", payer, null, payer.left));
  }
  for (const { accountId, left } of payees) {
    if (left > 0n) steps.push({ ...NOTHING, kind: "MINT", toWalletId: accountId, amountWon: won(left) });
  }
  return steps;
}

/** Money that leaves to an outside address. */
export function stepOfHold(hold: {
  holdRequestId: string;
  walletId: string;
  toAddress: string;
  amountWon: Won;
}): Step {
  const { holdRequestId, walletId, toAddress, amountWon } = hold;
  return {
    ...NOTHING,
    kind: "TRANSFER",
    fromWalletId: walletId,
    toAddress,
    amountWon,
    nonce: hash("hold nonce", holdRequestId),
  };
}

/**
 * The operation's name on the chain, derived from the ledger's numbering. So a restored database or
 * a second copy of the system uses the same names. Busy accounts fill whole words of the contract's
 * bitmap.
 */
export function operationIdOf(lines: readonly Line[]): string {
  const [first, ...rest] = lines;
  if (!first) throw new Error("an entry has lines");
  const busiest = rest.reduce((best, line) => (isBusier(line, best) ? line : best), first);
  const word = hash("operation", busiest.accountId, String(busiest.sequence >> 8n)).slice(0, 62);
  return word + (busiest.sequence & 0xffn).toString(16).padStart(2, "0");
}

export function operationIdOfHold(holdRequestId: string): string {
  return hash("hold operation", holdRequestId);
}

/** Another name for an operation whose own name was used; new with each decision. */
export function operationIdAnew(operationId: string): string {
  return hash("operation anew", operationId);
}

/** Whether a step moves a wallet's money and needs its authorization. */
export function isLeg(step: Step): step is Step & { fromWalletId: string } {
  return step.fromWalletId !== null;
}

/** The wallets of these steps, each once. */
export function walletsOf(steps: readonly Step[]): string[] {
  const named = steps.flatMap(({ fromWalletId, toWalletId }) => [fromWalletId, toWalletId]);
  return [...new Set(named.filter((walletId) => walletId !== null))];
}

export function isWallet(accountId: string): boolean {
  return accountId.startsWith("wal_");
}

const NOTHING = { fromWalletId: null, toWalletId: null, toAddress: null, nonce: "" };

interface Net {
  accountId: string;
  net: bigint;
  /** Sequence of its first line. */
  sequence: bigint;
}

function netByWallet(lines: readonly Line[]): Net[] {
  const nets = new Map<string, Net>();
  for (const { accountId, amountWon, sequence } of lines) {
    if (!isWallet(accountId)) continue;
    const known = nets.get(accountId);
    if (!known) nets.set(accountId, { accountId, net: amountWon, sequence });
    else known.net += amountWon;
  }
  return [...nets.values()];
}

function leg(
  kind: "TRANSFER" | "BURN",
  payer: Net & { legs: bigint },
  toWalletId: string | null,
  amount: bigint,
): Step {
  const number = payer.sequence * LEGS_PER_LINE + payer.legs;
  if (payer.legs >= LEGS_PER_LINE)
    throw new Error("an entry needs more authorizations out of one wallet than there is room for");
  payer.legs += 1n;
  const nonce = number.toString(16).padStart(64, "0");
  return { ...NOTHING, kind, fromWalletId: payer.accountId, toWalletId, amountWon: won(amount), nonce };
}

function isBusier(line: Line, best: Line): boolean {
  return (
    line.sequence > best.sequence || (line.sequence === best.sequence && line.accountId < best.accountId)
  );
}

function hash(...parts: string[]): string {
  return createHash("sha256")
    .update(parts.map((part) => `${part.length}:${part}`).join(""))
    .digest("hex");
}
