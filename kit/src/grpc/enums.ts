import { assert, invalidRequest } from "../contract/errors";

/** A ts-proto enum: the short name is the key, the wire name is the value. */
type ProtoEnum = Readonly<Record<string, string>>;

/**
 * The short name of a value: `enumName(WalletType, WalletType.NORMAL)` is "NORMAL". Undefined for a
 * value that is unset or newer than this build.
 */
export function enumName<E extends ProtoEnum>(object: E, value: E[keyof E]): KnownName<E> | undefined {
  const name = namesOf(object).get(value);
  return name === undefined || isPlaceholder(name) ? undefined : (name as KnownName<E>);
}

/**
 * The value of a short name. Names come from our own tables or parsed requests, so an unknown one
 * is a programming error.
 */
export function enumValue<E extends ProtoEnum>(object: E, name: string): E[keyof E] {
  assert(Object.hasOwn(object, name) && !isPlaceholder(name), `no enum value is called ${name}`);
  return object[name as keyof E];
}

/**
 * The short name of a filter value; undefined when it is unset. A newer value is refused: ignoring
 * it would return too much.
 */
export function enumFilter<E extends ProtoEnum>(
  object: E,
  value: E[keyof E],
  path: string,
): KnownName<E> | undefined {
  const name = enumName(object, value);
  if (name === undefined && value !== object.UNSPECIFIED)
    throw invalidRequest([{ path, message: "has a value that this release does not know" }]);
  return name;
}

type KnownName<E> = Exclude<keyof E & string, "UNSPECIFIED" | "UNRECOGNIZED">;

function isPlaceholder(name: string): boolean {
  return name === "UNSPECIFIED" || name === "UNRECOGNIZED";
}

const namesByEnum = new WeakMap<ProtoEnum, ReadonlyMap<string, string>>();

function namesOf(object: ProtoEnum): ReadonlyMap<string, string> {
  const known = namesByEnum.get(object);
  if (known) return known;
  const names = new Map(Object.entries(object).map(([name, value]) => [value, name]));
  namesByEnum.set(object, names);
  return names;
}
