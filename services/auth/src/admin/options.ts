import { InvalidArgumentError, Option } from "commander";
import { MAX_WON, won, type Won } from "@wonrail/kit/money";

// How the text of an option becomes a value. What is not even of the right form is refused here, the rest by the rules.

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function bigNumber(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return BigInt(text);
}

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

export function limitOption(): Option {
  return new Option("--limit <count>", "how many at most, up to 1000").default(100).argParser((text) => {
    const limit = wholeNumber(text);
    if (limit < 1 || limit > 1_000) throw new InvalidArgumentError("It must be from 1 to 1000.");
    return limit;
  });
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON for programs");
}
