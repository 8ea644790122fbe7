const COLUMNS = 100;
/** A line that begins like this would become a list item, a quotation or a title. */
const MARKUP = /^(?:[-+*>#]|\d+\.)/;

/** Wraps each line at 100 columns. Spaces inside backticks are no place for a break. */
export function wrapMarkdown(text: string): string {
  return text.split("\n").map(wrapLine).join("\n");
}

function wrapLine(line: string): string {
  if (line.length <= COLUMNS || line.includes("```")) return line;
  const words = line.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= COLUMNS;
    if (last !== undefined && (fits || MARKUP.test(word))) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}
