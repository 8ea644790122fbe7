/** A change or an observation of a state, at one moment between two times. */
export interface Step<S> {
  operation: number | undefined;
  from: number;
  /** Infinity: the moment may be any time after `from`. */
  until: number;
  /** False: the step may also never happen. */
  isCertain: boolean;
  /** Changes the state and returns how to undo it. Undefined when the step is impossible in this state. */
  apply(state: S): Undo | undefined;
}

export type Undo = () => void;

export interface SearchProblem<S> {
  state: S;
  /** A text that is equal for equal states. */
  describe(state: S): string;
  steps: Step<S>[];
  maxTries?: number;
}

export type SearchResult<S> =
  | { found: true; order: Step<S>[] }
  /** `before` ends the longest order. No step of `stuck` was possible after it. */
  | { found: false; gaveUp: boolean; before: Step<S>[]; stuck: Step<S>[] };

interface Choice<S> {
  candidates: Place<S>[];
  next: number;
  chosen?: { place: Place<S>; undo: Undo };
}

/** A step's place in `bounded`, or in `open` if it has no end. */
interface Place<S> {
  step: Step<S>;
  isOpen: boolean;
  index: number;
}

const MAX_TRIES = 3_000_000;
const SHOWN_STEPS = 5;

/**
 * Searches an order of the steps in which each is possible, and in which a step that ended before
 * another one began comes first (Wing and Gong). A pair of done steps and state is tried once
 * (Lowe).
 */
export function findOrder<S>(problem: SearchProblem<S>): SearchResult<S> {
  const { state, describe, maxTries = MAX_TRIES } = problem;
  const byStart = problem.steps.toSorted((one, other) => one.from - other.from);
  const bounded = byStart.filter(({ until }) => until !== Infinity);
  const open = byStart.filter(({ until }) => until === Infinity);
  const done = new Progress(bounded, open);
  const seen = new Set<string>();
  const path: Choice<S>[] = [{ candidates: done.candidates(), next: 0 }];
  let longest = -1;
  let end: { before: Step<S>[]; stuck: Step<S>[] } = { before: [], stuck: [] };

  for (let tries = 0; path.length > 0; tries += 1) {
    if (done.isComplete()) return { found: true, order: stepsOf(path) };
    if (tries > maxTries) return { found: false, gaveUp: true, ...end };
    if (path.length > longest) {
      longest = path.length;
      const stuck = path.at(-1)!.candidates.map(({ step }) => step);
      end = { before: stepsOf(path.slice(-1 - SHOWN_STEPS)), stuck };
    }
    const choice = path.at(-1)!;
    const place = choice.candidates[choice.next];
    choice.next += 1;
    if (!place) {
      path.pop();
      undoLast(path.at(-1), done);
      continue;
    }
    const undo = place.step.apply(state);
    if (!undo) continue;
    done.add(place);
    choice.chosen = { place, undo };
    const key = `${done.describe()}|${describe(state)}`;
    if (seen.has(key)) {
      undoLast(choice, done);
      continue;
    }
    seen.add(key);
    path.push({ candidates: done.candidates(), next: 0 });
  }
  return { found: false, gaveUp: false, ...end };
}

function undoLast<S>(choice: Choice<S> | undefined, done: Progress<S>): void {
  if (!choice?.chosen) return;
  choice.chosen.undo();
  done.remove(choice.chosen.place);
  delete choice.chosen;
}

function stepsOf<S>(path: Choice<S>[]): Step<S>[] {
  return path.flatMap(({ chosen }) => (chosen ? [chosen.place.step] : []));
}

/** The steps that are done, and the ones that may come next. */
class Progress<S> {
  /** Bounded steps below it are done. */
  private first = 0;
  private readonly doneBounded = new Set<number>();
  private readonly doneOpen = new Set<number>();
  private certainLeft: number;

  constructor(
    private readonly bounded: Step<S>[],
    private readonly open: Step<S>[],
  ) {
    this.certainLeft = [...bounded, ...open].filter(({ isCertain }) => isCertain).length;
  }

  isComplete(): boolean {
    return this.certainLeft === 0;
  }

  /**
   * A step may come next if it began before the end of every step that is not done. Steps without
   * an end are tried last, because most orders do not need them early.
   */
  candidates(): Place<S>[] {
    const found: Place<S>[] = [];
    let firstEnd = Infinity;
    for (let index = this.first; index < this.bounded.length; index += 1) {
      const step = this.bounded[index]!;
      if (step.from > firstEnd) break;
      if (this.doneBounded.has(index)) continue;
      firstEnd = Math.min(firstEnd, step.until);
      found.push({ step, isOpen: false, index });
    }
    this.open.forEach((step, index) => {
      if (!this.doneOpen.has(index)) found.push({ step, isOpen: true, index });
    });
    return found.filter(({ step }) => step.from <= firstEnd);
  }

  add({ step, isOpen, index }: Place<S>): void {
    if (isOpen) this.doneOpen.add(index);
    else this.doneBounded.add(index);
    while (this.doneBounded.has(this.first)) this.doneBounded.delete(this.first++);
    if (step.isCertain) this.certainLeft -= 1;
  }

  remove({ step, isOpen, index }: Place<S>): void {
    if (isOpen) this.doneOpen.delete(index);
    else if (index >= this.first) this.doneBounded.delete(index);
    else {
      for (let done = index + 1; done < this.first; done += 1) this.doneBounded.add(done);
      this.first = index;
    }
    if (step.isCertain) this.certainLeft += 1;
  }

  describe(): string {
    const beyond = [...this.doneBounded].sort((one, other) => one - other);
    const open = [...this.doneOpen].sort((one, other) => one - other);
    return `${this.first};${beyond.join()};${open.join()}`;
  }
}
