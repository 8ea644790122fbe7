import fc from "fast-check";
import {
  MAX_MEMO_CHARACTERS,
  MAX_METADATA_KEY_CHARACTERS,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE_CHARACTERS,
  MAX_REFERENCE_CHARACTERS,
  type Notes,
} from "@wonrail/kit/contract/notes";

/** Texts up to a length, often of the full length, of characters of one to four bytes. */
export function text(maxCharacters: number, ...characters: string[]): fc.Arbitrary<string> {
  const length = fc.oneof(fc.constant(maxCharacters), fc.integer({ min: 0, max: maxCharacters }));
  const character = fc.constantFrom(...(characters.length > 0 ? characters : ["a", "é", "원", "😀"]));
  return fc.tuple(character, length).map(([one, count]) => one.repeat(count));
}

const pairs = fc.oneof(fc.constant(MAX_METADATA_PAIRS), fc.integer({ min: 0, max: MAX_METADATA_PAIRS }));

/** Notes up to every limit, often at all limits at once. */
export const notes: fc.Arbitrary<Notes> = fc
  .record({
    memo: fc.option(text(MAX_MEMO_CHARACTERS), { nil: undefined }),
    reference: fc.option(text(MAX_REFERENCE_CHARACTERS), { nil: undefined }),
    name: text(MAX_METADATA_KEY_CHARACTERS - 1),
    value: text(MAX_METADATA_VALUE_CHARACTERS),
    pairs,
  })
  .map(({ memo, reference, name, value, pairs }) => ({
    memo,
    reference,
    metadata: Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`${index}${name}`, value])),
  }));
