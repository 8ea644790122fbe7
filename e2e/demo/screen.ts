const colours = process.stdout.isTTY && process.env.NO_COLOR === undefined;

function paint(code: number, text: string): string {
  return colours ? `\u001b[${code}m${text}\u001b[0m` : text;
}

export const screen = {
  chapter(title: string): void {
    process.stdout.write(`\n${paint(1, title)}\n`);
  },
  line(text: string): void {
    process.stdout.write(`  ${text}\n`);
  },
  done(text: string): void {
    process.stdout.write(`  ${paint(32, "✔")} ${text}\n`);
  },
  faint(text: string): void {
    process.stdout.write(`  ${paint(2, text)}\n`);
  },
  end(text: string): void {
    process.stdout.write(`\n${paint(1, text)}\n`);
  },
};

export function krw(amount: number): string {
  return `${amount.toLocaleString("en-US")} KRW`;
}
