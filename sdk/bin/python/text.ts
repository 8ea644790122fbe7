const LINE = 96;
const KEYWORDS = ["from", "global", "import", "in", "is", "not", "pass", "class", "def", "return", "type"];
const ALLOWED = ["type"];

/** The Python name of a JSON name: `payerWalletId` is `payer_wallet_id`, and `from` is `from_`. */
export function snakeCase(name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const python = KEYWORDS.includes(snake) && !ALLOWED.includes(snake) ? `${snake}_` : snake;
  if (camelCase(python) !== name) throw new Error(`${name} has no Python name that leads back to it`);
  return python;
}

/** The same as `camel_case` in decode.py. */
function camelCase(name: string): string {
  return name.replace(/_$/, "").replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A docstring with lines of at most 100 columns. */
export function docstring(text: string, indent: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"""', "'''");
  const lines = wrap(escaped, LINE - indent.length);
  const single = `${indent}"""${lines[0]}"""`;
  if (lines.length === 1 && single.length <= LINE + 4) return single;
  return [
    `${indent}"""${lines[0]}`,
    ...lines.slice(1).map((line) => `${indent}${line}`),
    `${indent}"""`,
  ].join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
