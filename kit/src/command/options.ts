import { InvalidArgumentError, Option } from "commander";

// How the text of an option becomes a value. What is not even of the right form is refused here, the rest by the rules.

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function bigNumber(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return BigInt(text);
}

export function limitOption(usual = 100, most = 1_000): Option {
  return new Option("--limit <count>", `how many at most, up to ${most}`).default(usual).argParser((text) => {
    const limit = wholeNumber(text);
    if (limit < 1 || limit > most) throw new InvalidArgumentError(`It must be from 1 to ${most}.`);
    return limit;
  });
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON for programs");
}
