import { InvalidArgumentError } from "commander";
import { bigNumber } from "@wonrail/kit/command";
import { isScope, type Scope, SCOPES } from "@wonrail/kit/contract/scopes";
import { MAX_WON, won, type Won } from "@wonrail/kit/contract/money";

export function amount(text: string): Won {
  const value = bigNumber(text);
  if (value > MAX_WON) throw new InvalidArgumentError(`It must be at most ${MAX_WON}.`);
  return won(value);
}

export function words(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}

export function scopes(text: string): Scope[] {
  const named = words(text);
  if (named.every(isScope)) return named;
  throw new InvalidArgumentError(`They must be some of ${SCOPES.join(", ")}.`);
}
