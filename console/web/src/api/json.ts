/** A generated message in proto3 JSON: large integers, times and bytes are strings. */
export type JsonOf<T> = T extends bigint | Date | Uint8Array
  ? string
  : T extends string
    ? `${T}`
    : T extends number | boolean | undefined
      ? T
      : T extends (infer Item)[]
        ? JsonOf<Item>[]
        : JsonFields<T> & JsonChoices<T>;

type Choice = { $case: string; value: unknown };
type ChoiceKeys<T> = {
  [K in keyof T]-?: NonNullable<T[K]> extends Choice ? K : never;
}[keyof T];

type JsonFields<T> = { [K in keyof T as K extends ChoiceKeys<T> ? never : K]: JsonOf<T[K]> };

/** The member of a oneof is a plain field. */
type JsonChoices<T> = {
  [C in Extract<T[ChoiceKeys<T>], Choice> as C["$case"]]?: JsonOf<C["value"]>;
};
