import { InvalidArgumentError } from "commander";
import { bigNumber } from "@wonrail/kit/command";
import { MAX_WON, won, type Won } from "@wonrail/kit/money";

export function amount(text: string): Won {
  const value = bigNumber(text);
  if (value > MAX_WON) throw new InvalidArgumentError(`It must be at most ${MAX_WON}.`);
  return won(value);
}

/** A day is its beginning in UTC. */
export function time(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError("It must be a time such as 2027-01-31 or 2027-01-31T09:00:00+09:00.");
  }
  return date;
}
