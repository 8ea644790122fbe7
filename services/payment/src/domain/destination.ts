import { type Address, readAddress, sameAddress, ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { DomainError } from "@wonrail/kit/contract/errors";

export interface ContractAddresses {
  tokenAddress: string;
  paymentManagerAddress: string;
}

/** Refuses malformed addresses, the zero address and our own contracts, where tokens would be stuck. */
export function checkDestination(
  text: string,
  { tokenAddress, paymentManagerAddress }: ContractAddresses,
): Address {
  const address = readAddress(text);
  if (!address) throw refused("must be 0x and 40 hex digits, with a correct checksum if mixed-case");
  const forbidden = [ZERO_ADDRESS, tokenAddress, paymentManagerAddress];
  if (forbidden.some((other) => sameAddress(address, other))) {
    throw refused("must not be the zero address, the token or the payment manager, which cannot receive");
  }
  return address;
}

function refused(message: string): DomainError {
  return new DomainError("TRF_002", { fields: [{ path: "toWalletAddress", message }] });
}
