import { type FieldProblem } from "@wonrail/kit/contract/errors";
import { type Json } from "@wonrail/kit/json";

/** Deeper than any body of the contract, and too shallow to exhaust a stack. */
export const MAX_DEPTH = 16;
const MAX_FIELDS_PER_OBJECT = 64;
export const MAX_ITEMS_PER_ARRAY = 100;
const MAX_PROBLEMS = 20;

/** Keys that mean something to JavaScript objects. No field of the contract has such a name. */
const DANGEROUS_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export interface StrictJson {
  value: Json;
  /** Problems that JSON allows and this API refuses, each with its field. */
  problems: FieldProblem[];
}

/** The text is not JSON, or exceeds a size limit. */
export class JsonRefusedError extends Error {
  override readonly name = "JsonRefusedError";
}

/**
 * JSON.parse silently keeps the last of two equal keys, rounds numbers and accepts any depth. So a
 * walk checks the text first: depth, sizes, duplicate and dangerous keys, numbers that are not
 * plain integers, and strings that a database cannot store. JSON.parse decides the value; the walk
 * can only refuse.
 */
export function parseStrictJson(text: string, maxItems: number = MAX_ITEMS_PER_ARRAY): StrictJson {
  const problems = new Scanner(text, maxItems).scan();
  try {
    return { value: JSON.parse(text) as Json, problems };
  } catch {
    throw new JsonRefusedError("is not valid JSON");
  }
}

class Scanner {
  private at = 0;
  private readonly path: (string | number)[] = [];
  private readonly problems: FieldProblem[] = [];
  /** Almost no body has an escape. Without one a string ends at the next quote. */
  private readonly hasEscapes: boolean;

  constructor(
    private readonly text: string,
    private readonly maxItems: number,
  ) {
    this.hasEscapes = text.includes("\\");
  }

  scan(): FieldProblem[] {
    this.value(0);
    this.skipSpace();
    if (this.at !== this.text.length) this.stop();
    return this.problems;
  }

  private value(depth: number): void {
    this.skipSpace();
    switch (this.text.charCodeAt(this.at)) {
      case CODE.quote:
        this.checkString(this.string());
        return;
      case CODE.openBrace:
        this.object(depth + 1);
        return;
      case CODE.openBracket:
        this.array(depth + 1);
        return;
      case CODE.t:
        return this.word("true");
      case CODE.f:
        return this.word("false");
      case CODE.n:
        return this.word("null");
      default:
        this.number();
    }
  }

  private object(depth: number): void {
    this.enter(depth);
    const keys: string[] = [];
    if (this.closes(CODE.closeBrace)) return;
    do {
      this.skipSpace();
      if (this.text.charCodeAt(this.at) !== CODE.quote) this.stop();
      const key = this.string();
      this.path.push(key);
      this.checkKey(key, keys);
      this.skipSpace();
      if (this.text.charCodeAt(this.at) !== CODE.colon) this.stop();
      this.at += 1;
      this.value(depth);
      this.path.pop();
    } while (this.goesOn(CODE.closeBrace));
  }

  private array(depth: number): void {
    this.enter(depth);
    if (this.closes(CODE.closeBracket)) return;
    let index = 0;
    do {
      if (index === this.maxItems)
        throw new JsonRefusedError(`has more than ${this.maxItems} items in an array`);
      this.path.push(index);
      this.value(depth);
      this.path.pop();
      index += 1;
    } while (this.goesOn(CODE.closeBracket));
  }

  private enter(depth: number): void {
    if (depth > MAX_DEPTH) throw new JsonRefusedError(`is nested deeper than ${MAX_DEPTH} levels`);
    this.at += 1;
  }

  private checkKey(key: string, keys: string[]): void {
    if (keys.length === MAX_FIELDS_PER_OBJECT) {
      throw new JsonRefusedError(`has more than ${MAX_FIELDS_PER_OBJECT} fields in an object`);
    }
    if (keys.includes(key)) this.problem("is given twice");
    if (DANGEROUS_KEYS.has(key)) this.problem("is not a field of this request");
    this.checkString(key);
    keys.push(key);
  }

  /** Reads a string. JSON.parse decodes its escapes, so that both always agree. */
  private string(): string {
    const start = this.at;
    let end = this.text.indexOf('"', start + 1);
    if (this.hasEscapes) {
      while (end !== -1 && this.isEscaped(end, start)) end = this.text.indexOf('"', end + 1);
    }
    if (end === -1) this.stop();
    this.at = end + 1;
    const raw = this.text.slice(start + 1, end);
    if (!this.hasEscapes || !raw.includes("\\")) return raw;
    try {
      return JSON.parse(this.text.slice(start, end + 1)) as string;
    } catch {
      this.stop();
    }
  }

  private isEscaped(end: number, start: number): boolean {
    let backslashes = 0;
    for (let at = end - 1; at > start && this.text.charCodeAt(at) === CODE.backslash; at -= 1)
      backslashes += 1;
    return backslashes % 2 === 1;
  }

  private checkString(value: string): void {
    // JSON forbids raw control characters and UTF-8 raw surrogates, so both arrive escaped only.
    if (this.hasEscapes && UNSTORABLE.test(value)) this.problem("holds a NUL or half of a surrogate pair");
  }

  /** Accepts plain integers only: no 1e3, no 1.0, no number that rounds. */
  private number(): void {
    const start = this.at;
    while (isNumberPart(this.text.charCodeAt(this.at))) this.at += 1;
    const literal = this.text.slice(start, this.at);
    if (literal === "") this.stop();
    if (!PLAIN_INTEGER.test(literal)) this.problem("must be a whole number in plain digits");
    else if (!Number.isSafeInteger(Number(literal))) this.problem("is too large to be an exact number");
  }

  private word(word: string): void {
    if (!this.text.startsWith(word, this.at)) this.stop();
    this.at += word.length;
  }

  private closes(close: number): boolean {
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== close) return false;
    this.at += 1;
    return true;
  }

  private goesOn(close: number): boolean {
    if (this.closes(close)) return false;
    if (this.text.charCodeAt(this.at) !== CODE.comma) this.stop();
    this.at += 1;
    return true;
  }

  private skipSpace(): void {
    while (isSpace(this.text.charCodeAt(this.at))) this.at += 1;
  }

  private problem(message: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ path: pathText(this.path), message });
  }

  private stop(): never {
    throw new JsonRefusedError(`is not valid JSON (at character ${this.at + 1})`);
  }
}

/** Path of a field in error details: `metadata.colour`, `items[2].amount`; the body is `(body)`. */
export function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "(body)";
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? printable(String(part)) : `.${printable(String(part))}`;
  }
  return text;
}

/** Shortens a key and removes characters that a terminal or log could act on. */
function printable(key: string): string {
  const shown = key.length > 64 ? `${key.slice(0, 64)}…` : key;
  return shown.replace(/[\p{C}]/gu, "\u{fffd}");
}

const PLAIN_INTEGER = /^(0|-?[1-9][0-9]*)$/;
// Under the u flag a surrogate matches only when it is unpaired.
const UNSTORABLE = /[\0\p{Surrogate}]/u;

const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Digits, sign, point and exponent; whether they form a number is JSON.parse's to say. */
function isNumberPart(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x45 ||
    code === 0x65
  );
}
