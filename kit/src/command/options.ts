import { InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { isId } from "../contract/ids";

// Conversions of option texts into values. They refuse malformed text; rules check the rest.

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function bigNumber(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return BigInt(text);
}

const calendarTime = z.union([
  z.iso.date(),
  z.iso.datetime({ offset: true }),
  z.iso.datetime({ offset: true, precision: -1 }),
]);

/**
 * A day means its start in UTC; a time must name its zone. Parsed by the calendar, because for Date
 * "1" is in 2001, 2027-02-30 is in March, and a time without a zone is local.
 */
export function time(text: string): Date {
  if (!calendarTime.safeParse(text).success)
    throw new InvalidArgumentError("It must be a time such as 2027-01-31 or 2027-01-31T09:00:00+09:00.");
  return new Date(text);
}

export function limitOption(usual = 100, most = 1_000): Option {
  return new Option("--limit <count>", `how many at most, up to ${most}`).default(usual).argParser((text) => {
    const limit = wholeNumber(text);
    if (limit < 1 || limit > most) throw new InvalidArgumentError(`It must be from 1 to ${most}.`);
    return limit;
  });
}

/**
 * Refuses an organisation's code: only auth knows it, and an empty result would look like missing
 * data.
 */
export function organisationId(text: string): string {
  if (!isId("org", text))
    throw new InvalidArgumentError("It must be an organisation's id: org_ and 32 hex digits.");
  return text;
}

export function reasonOption(): Option {
  return new Option("--reason <text>", "why, for the audit trail").makeOptionMandatory();
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON for programs");
}
