import { type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";

// The commands with test values.

export type Command = NonNullable<ExecuteRequest["command"]>;

export interface GivenNotes {
  memo?: string;
  reference?: string;
  metadata?: Record<string, string>;
}

export function charge(walletId: string, amount: number, notes: GivenNotes = {}): Command {
  return { $case: "charge", value: { walletId, amountWon: String(amount), ...given(notes) } };
}

/** Without an amount: all that remains. */
export function cancelCharge(chargeId: string, amount?: number, notes: GivenNotes = {}): Command {
  return { $case: "cancelCharge", value: { chargeId, amountWon: text(amount), ...given(notes) } };
}

export function refund(walletId: string, notes: GivenNotes = {}): Command {
  return { $case: "refund", value: { walletId, ...given(notes) } };
}

export function transfer(
  fromWalletId: string,
  toWalletAddress: string,
  amount: number,
  notes: GivenNotes = {},
): Command {
  const value = { fromWalletId, toWalletAddress, amountWon: String(amount), ...given(notes) };
  return { $case: "transfer", value };
}

/** Without an incentive amount: the whole INCENTIVE balance. */
export function pay(
  payerWalletId: string,
  receiverWalletId: string,
  amount: number,
  { incentive, ...notes }: GivenNotes & { incentive?: number } = {},
): Command {
  const amounts = { amountWon: String(amount), incentiveAmountWon: text(incentive) };
  return { $case: "pay", value: { payerWalletId, receiverWalletId, ...amounts, ...given(notes) } };
}

export function cancelPayment(paymentId: string, notes: GivenNotes = {}): Command {
  return { $case: "cancelPayment", value: { paymentId, ...given(notes) } };
}

export function refundPayment(paymentId: string, amount: number, notes: GivenNotes = {}): Command {
  return { $case: "refundPayment", value: { paymentId, amountWon: String(amount), ...given(notes) } };
}

function text(amount: number | undefined): string | undefined {
  return amount === undefined ? undefined : String(amount);
}

function given({ memo, reference, metadata = {} }: GivenNotes) {
  return { memo, reference, metadata };
}
