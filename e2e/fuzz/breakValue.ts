import { pick } from "@wonrail/kit/testing/random";
import { chance, HOSTILE_JSON, hostileString, hostileValue, integerBetween, type Random } from "./values";

/** A place in a value: the names and indexes that lead to it. */
type Place = (string | number)[];

const MARK = "\u0001spoilt";
const UNKNOWN_FIELDS = ["orgId", "status", "balance", "__proto__", "constructor", "Amount", ""];

/** The value with one change: a field removed, added, or replaced by a value of any type. */
export function breakSomewhere(random: Random, value: unknown): unknown {
  const places = placesIn(value);
  const place = pick(random, places);
  const dice = random();
  if (dice < 0.25 && place.length > 0) return changed(value, place, () => undefined);
  if (dice < 0.4) return changed(value, place, (old) => withUnknown(random, old));
  if (dice < 0.55) return changed(value, place, (old) => nearby(random, old));
  return changed(value, place, () => hostileValue(random));
}

/** JSON text with several changes, or with damage that no serialiser makes. */
export function spoilText(random: Random, value: unknown): string {
  let spoilt = value;
  for (let count = integerBetween(random, 1, 3); count > 0; count -= 1)
    spoilt = breakSomewhere(random, spoilt);
  const text = JSON.stringify(spoilt) ?? "";
  const dice = random();
  if (dice < 0.5) return text;
  if (dice < 0.7) return withRawJson(random, value);
  if (dice < 0.8) return text.slice(0, Math.floor(random() * text.length));
  if (dice < 0.9) return flipped(random, text);
  return pick(random, [...HOSTILE_JSON, hostileString(random)]);
}

function withRawJson(random: Random, value: unknown): string {
  const place = pick(random, placesIn(value));
  const marked = JSON.stringify(changed(value, place, () => MARK));
  return marked.replace(JSON.stringify(MARK), () => pick(random, HOSTILE_JSON));
}

function flipped(random: Random, text: string): string {
  const at = Math.floor(random() * text.length);
  return text.slice(0, at) + hostileString(random).slice(0, 3) + text.slice(at + 1);
}

function placesIn(value: unknown, above: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [above];
  const inner = Array.isArray(value)
    ? value.map((one, index) => [index, one] as const)
    : Object.entries(value);
  return [above, ...inner.flatMap(([name, one]) => placesIn(one, [...above, name]))];
}

/** A copy with another value at the place. The place disappears when the value is undefined. */
function changed(value: unknown, [name, ...rest]: Place, change: (old: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (Array.isArray(value)) {
    const items = value.map((one, index) => (index === name ? changed(one, rest, change) : one));
    return items.filter((one) => one !== undefined);
  }
  return { ...(value as object), [name]: changed((value as Record<string, unknown>)[name], rest, change) };
}

function withUnknown(random: Random, old: unknown): unknown {
  if (typeof old !== "object" || old === null || Array.isArray(old)) return [old, old];
  return { ...old, [pick(random, UNKNOWN_FIELDS)]: hostileValue(random) };
}

/** A value of the same type, just beside a limit. */
function nearby(random: Random, old: unknown): unknown {
  if (typeof old === "number") return pick(random, [old + 1, old - 1, -old, old * 1_000, old / 3]);
  if (typeof old === "string")
    return pick(random, [`${old} `, old.slice(1), old.toUpperCase(), old.repeat(30), `${old}\u0000`]);
  if (Array.isArray(old))
    return chance(random, 0.5) ? [] : Array.from({ length: 1_001 }, () => old[0] ?? "x");
  return old === null ? "" : { ...(old as object) };
}
