/** Limits of the notes that a caller gives to an entry. Characters count as people count: an emoji is one. */
export const MAX_MEMO_CHARACTERS = 200;
export const MAX_REFERENCE_CHARACTERS = 100;
export const MAX_METADATA_PAIRS = 10;
export const MAX_METADATA_KEY_CHARACTERS = 40;
export const MAX_METADATA_VALUE_CHARACTERS = 500;

export interface Notes {
  memo?: string | undefined;
  reference?: string | undefined;
  metadata: Record<string, string>;
}

/** Tags and lengths of a pair in protobuf. */
const PAIR_BYTES = 10;
/** Tags and lengths of memo and reference. */
const TEXTS_BYTES = 10;
const MAX_UTF8_BYTES = 4;

/** The most bytes that notes take in a message. */
export const MAX_NOTES_BYTES =
  TEXTS_BYTES +
  MAX_METADATA_PAIRS * PAIR_BYTES +
  MAX_UTF8_BYTES *
    (MAX_MEMO_CHARACTERS +
      MAX_REFERENCE_CHARACTERS +
      MAX_METADATA_PAIRS * (MAX_METADATA_KEY_CHARACTERS + MAX_METADATA_VALUE_CHARACTERS));

/** An upper bound of the bytes that these notes take in a message. */
export function notesBytes({ memo = "", reference = "", metadata }: Notes): number {
  let bytes = TEXTS_BYTES + Buffer.byteLength(memo) + Buffer.byteLength(reference);
  for (const name in metadata)
    bytes += PAIR_BYTES + Buffer.byteLength(name) + Buffer.byteLength(metadata[name]!);
  return bytes;
}
