import { z } from "zod";
import { assert } from "@wonrail/kit/contract/errors";
import {
  MAX_MEMO_CHARACTERS,
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
  type MetadataChange,
} from "@wonrail/kit/contract/notes";
import { type UpdateMetadataResponse } from "@wonrail/proto/payment/v1/payment";
import { textOf } from "./schemas";

// Partners write notes on an object: memo, reference and metadata. Notes change nothing about the money.

const name = textOf(MAX_METADATA_KEY_CHARACTERS, "The name of the pair.", 1);
const value = textOf(MAX_METADATA_VALUE_CHARACTERS, "The value of the pair.");

/** Pairs of strings. The generator of the document omits the schema of the names. */
export function metadataOf(maxPairs: number) {
  return z
    .record(name, value)
    .refine((pairs) => Object.keys(pairs).length <= maxPairs, {
      message: `must have at most ${maxPairs} pairs`,
    })
    .meta({
      description:
        "Your own pairs of strings. The keys `constructor`, `prototype` and `__proto__` are refused.",
      maxProperties: maxPairs,
      propertyNames: { minLength: 1, maxLength: MAX_METADATA_KEY_CHARACTERS },
    });
}

export const responseMetadata = z
  .record(z.string(), z.string())
  .meta({ description: "Your own pairs of strings." });

/** The notes of a request. */
export const notes = {
  memo: textOf(MAX_MEMO_CHARACTERS, "Your own note.").optional(),
  reference: textOf(
    MAX_REFERENCE_CHARACTERS,
    "Your own reference, such as an order number. It need not be unique. Lists filter by it, and it does not change.",
    1,
  ).optional(),
  metadata: metadataOf(MAX_METADATA_PAIRS).optional(),
};

/** The notes of an answer. */
export const responseNotes = {
  memo: z.string().nullable().meta({ description: "The note of the request; null without one." }),
  reference: z.string().nullable().meta({ description: "The reference of the request; null without one." }),
  metadata: responseMetadata,
};

export const referenceFilter = textOf(
  MAX_REFERENCE_CHARACTERS,
  "Only with exactly this reference.",
  1,
).optional();

/** The body of a PATCH. */
export const metadataChange = z
  .strictObject({
    metadata: z
      .record(name, value.nullable())
      .refine((pairs) => Object.keys(pairs).length <= 2 * MAX_METADATA_PAIRS, {
        message: `must have at most ${2 * MAX_METADATA_PAIRS} pairs`,
      })
      .meta({
        description: `The pairs to write; null deletes a pair. The others stay. At most ${MAX_METADATA_PAIRS} may be left.`,
        maxProperties: 2 * MAX_METADATA_PAIRS,
        propertyNames: { minLength: 1, maxLength: MAX_METADATA_KEY_CHARACTERS },
      }),
  })
  .meta({ id: "UpdateMetadata" });

export function changeOf({ metadata }: z.output<typeof metadataChange>): MetadataChange {
  const pairs = Object.entries(metadata);
  return {
    set: Object.fromEntries(pairs.flatMap(([key, text]) => (text === null ? [] : [[key, text]]))),
    remove: pairs.flatMap(([key, text]) => (text === null ? [key] : [])),
  };
}

type UpdatedObject = NonNullable<UpdateMetadataResponse["object"]>;
type ValueOf<C extends UpdatedObject["$case"]> = { [O in UpdatedObject as O["$case"]]: O["value"] }[C];

/** The object whose metadata was changed. */
export function updated<C extends UpdatedObject["$case"]>(
  object: UpdatedObject | undefined,
  wanted: C,
): ValueOf<C> {
  assert(object?.$case === wanted, "a change is answered by its own object");
  return object.value as ValueOf<C>;
}

/** The shared parts of every operation that changes metadata. */
export const updatesMetadata = {
  description:
    "Merges pairs into the metadata. Everything else stays as it is, in any state of the object. The " +
    "answer that an Idempotency-Key replays keeps the metadata of the request.",
  access: "full",
  whenUnknown: "This operation takes none: send the request again. A repetition changes nothing.",
  body: metadataChange,
  status: 200,
} as const;
