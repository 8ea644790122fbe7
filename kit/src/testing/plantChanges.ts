/**
 * Plants a bug in a source text: replaces each text by its bug. Throws when a text does not occur
 * exactly once, because the source has changed since the bug was written.
 */
export function plantChanges(
  source: string,
  file: string,
  changes: readonly (readonly [text: string, bug: string])[],
): string {
  let planted = source;
  for (const [text, bug] of changes) {
    const found = planted.split(text).length - 1;
    if (found !== 1) throw new Error(`${file} has this text ${found} times instead of once: ${text}`);
    planted = planted.split(text).join(bug);
  }
  return planted;
}
