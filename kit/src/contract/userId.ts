const MAX_CHARACTERS = 128;

/** Control characters, line separators, lone surrogates, and characters without a shape: zero-width and bidirectional ones. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const SPACE_AT_AN_END = /^\s|\s$/u;

/**
 * True for a valid user id of a partner. Every service uses this rule: otherwise a wallet that one
 * service accepts could never be opened at another.
 */
export function isUserId(text: string): boolean {
  const userId = normalizeUserId(text);
  const { length } = [...userId];
  return length >= 1 && length <= MAX_CHARACTERS && !HIDDEN.test(userId) && !SPACE_AT_AN_END.test(userId);
}

/**
 * Unifies the spelling of a user id: two encodings of the same letters name the same user (Unicode
 * NFC).
 */
export function normalizeUserId(text: string): string {
  return text.normalize("NFC");
}

export const USER_ID_FORM =
  `must have 1 to ${MAX_CHARACTERS} characters, no control, zero-width or bidirectional characters, ` +
  "and no space at the start or end";
