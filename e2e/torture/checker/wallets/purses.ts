import { incentivePart, returnedPart, type PaymentParts } from "../moneyRules";
import { type Undo } from "./findOrder";

export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";

interface Purse {
  balance: number;
  held: number;
  isClosed: boolean;
}

/** The wallets of one user, one of each type. A wallet that does not exist is empty. */
export interface Purses {
  NORMAL: Purse;
  INCENTIVE: Purse;
  GOVERNMENT: Purse;
  /** The cancelled part of each charge, and the returned part of each payment. */
  returned: Map<string, number>;
}

export function emptyPurses(): Purses {
  const empty = () => ({ balance: 0, held: 0, isClosed: false });
  return { NORMAL: empty(), INCENTIVE: empty(), GOVERNMENT: empty(), returned: new Map() };
}

/** The done steps determine the map of returned parts, so the text leaves it out. */
export function describePurses(purses: Purses): string {
  return [purses.NORMAL, purses.INCENTIVE, purses.GOVERNMENT]
    .map(({ balance, held, isClosed }) => `${balance},${held},${isClosed}`)
    .join();
}

export const NOTHING: Undo = () => {};

export function availableOf({ balance, held, isClosed }: Purse): number {
  return isClosed ? 0 : balance - held;
}

/** Undefined when a purse is closed or would fall below what it holds. */
export function move(purses: Purses, amounts: Partial<Record<WalletType, number>>): Undo | undefined {
  const changed = Object.entries(amounts).filter(([, amount]) => amount !== 0) as [WalletType, number][];
  const isPossible = changed.every(
    ([type, amount]) => !purses[type].isClosed && (amount > 0 || availableOf(purses[type]) >= -amount),
  );
  if (!isPossible) return undefined;
  for (const [type, amount] of changed) purses[type].balance += amount;
  return () => {
    for (const [type, amount] of changed) purses[type].balance -= amount;
  };
}

export function hold(purse: Purse, amount: number): Undo | undefined {
  if (availableOf(purse) < amount) return undefined;
  purse.held += amount;
  return () => (purse.held -= amount);
}

/** The held money leaves, or is free again. */
export function endHold(purse: Purse, amount: number, isPosted: boolean): Undo | undefined {
  if (purse.held < amount) return undefined;
  const paid = isPosted ? amount : 0;
  purse.held -= amount;
  purse.balance -= paid;
  return () => {
    purse.held += amount;
    purse.balance += paid;
  };
}

export function setClosed(purse: Purse, isClosed: boolean): Undo | undefined {
  const before = purse.isClosed;
  if (isClosed && (purse.balance !== 0 || purse.held !== 0)) return undefined;
  purse.isClosed = isClosed;
  return () => (purse.isClosed = before);
}

export function addReturned(purses: Purses, id: string, amount: number): Undo {
  const before = purses.returned.get(id) ?? 0;
  purses.returned.set(id, before + amount);
  return () => purses.returned.set(id, before);
}

/** The split that the payer's money gives; undefined when it is too little. */
export function splitPayment(
  purses: Purses,
  amount: number,
  named: number | null | undefined,
): { incentive: number; normal: number } | "PAY_006" | "PAY_001" {
  const incentive = incentivePart(amount, availableOf(purses.INCENTIVE), named);
  if (incentive === undefined) return "PAY_006";
  const normal = amount - incentive;
  return normal > availableOf(purses.NORMAL) ? "PAY_001" : { incentive, normal };
}

/** The amounts that a return of a part gives to the payer and takes back from the accrual. */
export function partForPayer(purses: Purses, payment: PaymentParts, from: number, to: number) {
  const part = returnedPart(payment, from, to);
  const isOpen = !purses.INCENTIVE.isClosed;
  const room = isOpen ? availableOf(purses.INCENTIVE) + part.incentive : 0;
  const clawedBack = Math.min(part.accrued, room);
  const kept = part.accrued - clawedBack;
  return { incentive: part.incentive, normal: part.normal - kept, clawedBack, kept };
}

/** Makes all changes. If a change is impossible, undoes the others and returns undefined. */
export function all(...changes: (() => Undo | undefined)[]): Undo | undefined {
  const undos: Undo[] = [];
  const undoAll = () => undos.reverse().forEach((undo) => undo());
  for (const change of changes) {
    const undo = change();
    if (undo) undos.push(undo);
    else return void undoAll();
  }
  return undoAll;
}
