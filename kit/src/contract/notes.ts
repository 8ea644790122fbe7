import { type FieldProblem, invalidRequest } from "./errors";

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

/** Problems of notes. Characters count as people count: an emoji is one. PostgreSQL stores no NUL. */
export function noteProblems({ memo, reference, metadata }: Notes): FieldProblem[] {
  return [
    ...textProblems("memo", memo, MAX_MEMO_CHARACTERS),
    ...textProblems("reference", reference, MAX_REFERENCE_CHARACTERS),
    ...metadataProblems(metadata),
  ];
}

/** Pairs to write, and names of pairs to delete. */
export interface MetadataChange {
  set: Record<string, string>;
  remove: string[];
}

/** The pairs after a change. Refuses pairs beyond the limits. */
export function changeMetadata(
  metadata: Record<string, string>,
  { set, remove }: MetadataChange,
): Record<string, string> {
  const kept = Object.entries(metadata).filter(([name]) => !remove.includes(name));
  const changed = { ...Object.fromEntries(kept), ...set };
  const problems = metadataProblems(changed);
  if (problems.length > 0) throw invalidRequest(problems);
  return changed;
}

export function isSameMetadata(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

function metadataProblems(metadata: Record<string, string>): FieldProblem[] {
  const pairs = Object.entries(metadata);
  const tooMany = { path: "metadata", message: `must have at most ${MAX_METADATA_PAIRS} pairs` };
  return [
    ...(pairs.length > MAX_METADATA_PAIRS ? [tooMany] : []),
    ...pairs.flatMap(([key, value]) => {
      const characters = [...key];
      const path = `metadata.${characters.slice(0, MAX_METADATA_KEY_CHARACTERS).join("")}`;
      if (characters.length < 1 || characters.length > MAX_METADATA_KEY_CHARACTERS)
        return [{ path, message: `the key must have 1 to ${MAX_METADATA_KEY_CHARACTERS} characters` }];
      return textProblems(path, value, MAX_METADATA_VALUE_CHARACTERS);
    }),
  ];
}

/** Problems of a text that is stored. */
export function textProblems(path: string, text: string | undefined, maxCharacters: number): FieldProblem[] {
  if (text === undefined) return [];
  if (text.includes("\0")) return [{ path, message: "must not contain a NUL" }];
  if ([...text].length <= maxCharacters) return [];
  return [{ path, message: `must have at most ${maxCharacters} characters` }];
}
