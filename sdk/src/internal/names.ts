/**
 * The known names of a request or of options. The value is true, or says what leaving the name out
 * means. In the second case an undefined value is refused, because it would mean more than it says.
 */
export type KnownNames<T> = { readonly [Name in keyof Required<T>]: true | `${"for" | "to"} ${string}` };

export interface NameProblem {
  name: string;
  message: string;
}

/** Finds misspelt names, and undefined values that would widen the call. */
export function findNameProblems<T extends object>(given: T, known: KnownNames<T>): NameProblem[] {
  const meanings: Readonly<Record<string, true | string>> = known;
  const problems: NameProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const absence = Object.hasOwn(meanings, name) ? meanings[name] : undefined;
    if (absence === undefined) problems.push({ name, message: adviseName(name, Object.keys(known)) });
    else if (value === undefined && absence !== true)
      problems.push({ name, message: `is undefined: leave it out ${absence}, or give a value` });
  }
  return problems;
}

/** `did you mean …?`, or the list of all known names when none is similar. */
export function adviseKnownName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? `known are ${known.join(", ")}` : `did you mean ${nearest}?`;
}

function adviseName(name: string, known: readonly string[]): string {
  return `is not a known name: ${adviseKnownName(name, known)}`;
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: nameDistance(plain(name), plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

/** A name inside the other one counts as close: `retries` and `maxRetries`. */
function nameDistance(left: string, right: string): number {
  const isPart = left.length > 2 && right.length > 2 && (left.includes(right) || right.includes(left));
  return isPart ? 1 : editDistance(left, right);
}

/** Levenshtein distance: insertions, deletions and replacements of one character. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[right.length]!;
}
