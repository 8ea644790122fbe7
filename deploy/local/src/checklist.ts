import { styleText } from "node:util";

export interface ChecklistOutput {
  write: (text: string) => void;
  /** Whether lines can be rewritten in place. */
  live: boolean;
  color: boolean;
  now: () => number;
}

export interface Checklist {
  /** Runs one step of the start, and shows its result behind its name. */
  step: <T>(name: string, work: () => Promise<T>, describe?: (result: T) => string) => Promise<T>;
  /** A line between the steps. */
  note: (text: string) => void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const NAME_WIDTH = 14;

/**
 * Concurrent steps share the lines at the bottom of a terminal. Elsewhere each step is one line
 * when it is done.
 */
export function createChecklist({ write, live, color, now }: ChecklistOutput): Checklist {
  const running = new Map<string, number>();
  let drawn = 0;
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;

  const paint = (style: "green" | "red" | "dim" | "cyan", text: string): string =>
    color ? styleText(style, text, { validateStream: false }) : text;

  function redraw(finished = ""): void {
    if (!live) return finished === "" ? undefined : write(finished);
    const lines = [...running].map(
      ([name, startedAt]) =>
        `${paint("cyan", FRAMES[frame % FRAMES.length]!)} ${name.padEnd(NAME_WIDTH)} ${paint("dim", seconds(now() - startedAt))}\n`,
    );
    write(`${drawn === 0 ? "" : `\u001b[${drawn}A\u001b[0J`}${finished}${lines.join("")}`);
    drawn = lines.length;
  }

  function animate(): void {
    if (live && running.size > 0) {
      timer ??= setInterval(() => {
        frame += 1;
        redraw();
      }, FRAME_MS);
    } else {
      clearInterval(timer);
      timer = undefined;
    }
  }

  function finish(name: string, mark: string, text: string): void {
    const tookMs = now() - running.get(name)!;
    running.delete(name);
    const line = `${mark} ${name.padEnd(NAME_WIDTH)} ${paint("dim", seconds(tookMs).padStart(6))}  ${text}`;
    redraw(`${line.trimEnd()}\n`);
    animate();
  }

  return {
    async step(name, work, describe = () => "") {
      running.set(name, now());
      redraw();
      animate();
      try {
        const result = await work();
        finish(name, paint("green", "✔"), describe(result));
        return result;
      } catch (error) {
        finish(name, paint("red", "✘"), "failed");
        throw error;
      }
    },
    note: (text) => redraw(`${text}\n`),
  };
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
