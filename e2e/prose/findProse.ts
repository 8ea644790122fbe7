export type Kind = "comment" | "test" | "title" | "text" | "message" | "longSentence" | "wideLine";

export interface Finding {
  kind: Kind;
  line: number;
  quote: string;
  suggestion: string;
}

const MAX_COLUMNS = 140;
const MAX_WORDS = 28;

const RIDDLE_STARTS: [pattern: RegExp, suggestion: string][] = [
  [/^(what|who|whoever|whom|whose|only what|also what)\b/i, "start with the noun that acts: “The relay …”"],
  [/^(one (?!of)|nobody|nothing|neither|those|such|that (?!is\b))/i, "name the subject instead of a pronoun"],
  [/^(of (?!course)|for whom|from whom|where (?!to\b)|elsewhere|by then)/i, "put subject and verb first"],
  [/^(until|however|as (it|they|if)|so (that|is|does)|else|meanwhile)\b/i, "make it a sentence of its own"],
];
const ODD_WORDS: [pattern: RegExp, suggestion: string][] = [
  [/\b(whoever|of whom|of which|nobody's|somebody's|anybody|whatever it)\b/i, "name the person or the part"],
  [/\b(has|is|are) to be\b/i, "write “must” with an active verb"],
  [/\b(what|who) (is|was|has)\b/i, "name the thing instead of a clause"],
  [/\b(that is left|is let go|let go of)\b/i, "write “remains”, “is released” or “is dropped”"],
  [/\b(is told|are told|is said|was said)\b/i, "write “reports”, “logs” or “answers”"],
  [/\b(is had|was had|be had)\b/i, "write “is available” or “exists”"],
  [/\bperhaps\b/i, "write “may”"],
];

/** Finds prose in a source file or Markdown page that a newcomer has to decode. */
export function findProse(path: string, text: string): Finding[] {
  const lines = text.split("\n");
  return path.endsWith(".md") ? findInPage(lines) : findInSource(lines);
}

function findInPage(lines: string[]): Finding[] {
  const prose = withoutCodeBlocks(lines);
  const sentences = sentencesOf(prose, (line) => (/^\s*$|^[|#<]/.test(line) ? undefined : line));
  return [
    // npm run words checks the width of pages.
    ...prose.flatMap((line, index) =>
      /^# /.test(line) ? checkWords("title", index, line.replace(/^# (\d+\.? )?/, "")) : [],
    ),
    ...sentences.flatMap(({ line, sentence }) => [
      ...checkStart("text", line, sentence),
      ...checkLength(line, sentence),
    ]),
  ];
}

function findInSource(lines: string[]): Finding[] {
  const comments = sentencesOf(lines, commentText);
  return [
    ...lines.flatMap((line, index) => [...checkWidth(line, index), ...checkStrings(line, index)]),
    ...comments.flatMap(({ line, sentence }) => checkWords("comment", line, sentence)),
  ];
}

function checkStrings(line: string, index: number): Finding[] {
  const [, title] = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*["'`](.+?)["'`]/.exec(line) ?? [];
  const [, message] =
    /\b(?:description|summary|message|help)\s*:\s*["'`](.+?)["'`],?\s*$/.exec(line) ??
    /\blog\.(?:info|warn|error|fatal|debug)\([^"'`]*["'`](.+?)["'`]/.exec(line) ??
    [];
  return [
    ...(title === undefined ? [] : checkWords("test", index, title)),
    ...(message === undefined ? [] : checkWords("message", index, message)),
  ];
}

function commentText(line: string): string | undefined {
  const [, words] = /^\s*(?:\/\/+|\*(?!\/)|\/\*\*?|--|#)\s*(.+?)(?:\*\/)?$/.exec(line) ?? [];
  return words !== undefined && !/^(!|region|oxlint|oxfmt|@)/.test(words) ? words : undefined;
}

/** Joins wrapped lines, so that only the start of a sentence counts as its start. */
function sentencesOf(
  lines: string[],
  textOf: (line: string) => string | undefined,
): { line: number; sentence: string }[] {
  const found: { line: number; sentence: string }[] = [];
  let isContinued = false;
  for (const [index, line] of lines.entries()) {
    const words = textOf(line);
    const isNewItem = words !== undefined && /^\s*([-*]|\d+\.) /.test(words);
    for (const sentence of (words ?? "").split(/(?<=[.!?]) +/)) {
      if (isContinued && words !== undefined && !isNewItem) found.at(-1)!.sentence += ` ${sentence.trim()}`;
      else if (sentence.trim() !== "")
        found.push({ line: index, sentence: sentence.trim().replace(/^([-*]|\d+\.) +/, "") });
      isContinued = words !== undefined && !/[.!?:]$/.test(sentence.trim());
    }
  }
  return found.filter(({ sentence }) => sentence.length >= 12);
}

function withoutCodeBlocks(lines: string[]): string[] {
  let isCode = false;
  return lines.map((line) => {
    if (!/^\s*```/.test(line)) return isCode ? "" : line;
    isCode = !isCode;
    return "";
  });
}

function checkWords(kind: Kind, line: number, words: string): Finding[] {
  return report(kind, line, words, [...RIDDLE_STARTS, ...ODD_WORDS]);
}

function checkStart(kind: Kind, line: number, words: string): Finding[] {
  return report(kind, line, words, RIDDLE_STARTS);
}

function report(kind: Kind, line: number, words: string, patterns: typeof RIDDLE_STARTS): Finding[] {
  const [, suggestion] = patterns.find(([pattern]) => pattern.test(words)) ?? [];
  if (suggestion === undefined || words.length < 12) return [];
  return [{ kind, line: line + 1, quote: words.slice(0, 120), suggestion }];
}

function checkLength(line: number, sentence: string): Finding[] {
  const count = sentence.split(/\s+/).length;
  if (count <= MAX_WORDS) return [];
  const suggestion = `split the sentence: ${count} words, at most ${MAX_WORDS}`;
  return [{ kind: "longSentence", line: line + 1, quote: sentence.slice(0, 120), suggestion }];
}

function checkWidth(line: string, index: number): Finding[] {
  if (line.length <= MAX_COLUMNS) return [];
  const suggestion = "wrap comments and Markdown at 100 columns";
  return [{ kind: "wideLine", line: index + 1, quote: line.trim().slice(0, 80), suggestion }];
}
