export const COLUMNS = 100;

const LIST_ITEM = /^(\s*)((?:[-*+]|\d+[.)]) )?/;
/** Lines that are no prose: tables, headings, HTML, definitions, rules, and fences. */
const NOT_PROSE = /^\s*(\||#|<|>|\[[^\]]+\]:|---|===|```)/;
/** A line that would begin like this is another kind of block. */
const BLOCK_START = /^([-*+]|#{1,6}|\d+[.)])$|^[>|]/;

/** Re-wraps each paragraph and list item of a page that has a line over 100 columns. */
export function wrapMarkdown(page: string): string {
  return mapParagraphs(page, (lines) => (lines.some(isTooWide) ? wrapParagraph(lines) : lines));
}

/** True when the line is over 100 columns and a space in it can be a line break. */
export function isTooWide(line: string): boolean {
  if (line.length <= COLUMNS || NOT_PROSE.test(line)) return false;
  return wordsOf(line.slice(LIST_ITEM.exec(line)![0].length)).length > 1;
}

/** Calls `change` with the lines of each paragraph and list item, and keeps everything else. */
export function mapParagraphs(page: string, change: (lines: string[]) => string[]): string {
  const lines = page.split("\n");
  const result: string[] = [];
  let paragraph: string[] = [];
  let isCode = false;
  const flush = () => {
    if (paragraph.length > 0) result.push(...change(paragraph));
    paragraph = [];
  };
  for (const [index, line] of lines.entries()) {
    const isFence = /^\s*```/.test(line);
    const isFrontMatter = lines[0] === "---" && index <= lines.indexOf("---", 1);
    if (isCode || isFence || isFrontMatter || line.trim() === "" || NOT_PROSE.test(line)) {
      flush();
      result.push(line);
      if (isFence) isCode = !isCode;
      continue;
    }
    if (LIST_ITEM.exec(line)![2] !== undefined) flush();
    paragraph.push(line);
  }
  flush();
  return result.join("\n");
}

function wrapParagraph(lines: string[]): string[] {
  const [, indent = "", marker = ""] = LIST_ITEM.exec(lines[0]!)!;
  const text = lines.map((line) => line.trim()).join(" ");
  const wrapped: string[] = [];
  let line = indent + marker;
  let isEmpty = true;
  for (const word of wordsOf(text.slice(marker.length))) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (isEmpty || longer.length <= COLUMNS || BLOCK_START.test(word)) {
      line = longer;
      isEmpty = false;
      continue;
    }
    wrapped.push(line);
    line = indent + " ".repeat(marker.length) + word;
  }
  return [...wrapped, line];
}

/** Code and links stay in one piece: a command with a line break in it cannot be copied. */
function wordsOf(text: string): string[] {
  return text.match(/(?:`[^`]*`|\]\([^)]*\)|\S)+/g) ?? [];
}
