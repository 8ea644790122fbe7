const MAX_CHARACTERS = 128;

/**
 * Whether this is how a partner may name a user. Said once for all doors: a wallet that one of them lets in and the next one refuses could never be
 * finished.
 */
export function isUserId(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= MAX_CHARACTERS && !/\p{Cc}/u.test(text);
}

export const USER_ID_FORM = `must have 1 to ${MAX_CHARACTERS} characters and no control characters`;
