import { InvalidArgumentError } from "commander";
import { bigNumber } from "@wonrail/kit/command";
import { MAX_WON, won, type Won } from "@wonrail/kit/contract/money";

export function amount(text: string): Won {
  const value = bigNumber(text);
  if (value > MAX_WON) throw new InvalidArgumentError(`It must be at most ${MAX_WON}.`);
  return won(value);
}
