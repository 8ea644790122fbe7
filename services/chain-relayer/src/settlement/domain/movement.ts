import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import { type TokenMovement } from "../../evm";
import { type Step } from "./steps";

/**
 * Whether the movement is the step's. `addresses` are the wallets' addresses by id; a wallet
 * without one has moved nothing.
 */
export function isMovementOf(
  { fromWalletId, toWalletId, toAddress, amountWon }: Step,
  { from, to, units }: TokenMovement,
  addresses: ReadonlyMap<string, string>,
): boolean {
  const at = (walletId: string | null): string | undefined =>
    walletId === null ? ZERO_ADDRESS : addresses.get(walletId)?.toLowerCase();
  return (
    units === wonToTokenUnits(amountWon) &&
    from === at(fromWalletId) &&
    to === (toAddress?.toLowerCase() ?? at(toWalletId))
  );
}

/**
 * The steps without a movement; null when the movements are not these steps' in the contract's
 * order.
 */
export function findMissingSteps(
  steps: readonly Step[],
  movements: readonly TokenMovement[],
  addresses: ReadonlyMap<string, string>,
): Step[] | null {
  let next = 0;
  const leftOut = steps.filter((step) => {
    const movement = movements[next];
    if (!movement || !isMovementOf(step, movement, addresses)) return true;
    next += 1;
    return false;
  });
  return next > 0 && next === movements.length ? leftOut : null;
}
