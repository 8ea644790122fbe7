import { readText } from "./repository";

/** Script of the README's tour, as a reader pastes it. */
export function readTour(): string {
  const [, tour] = /## Tour\n.*?```bash\n(.*?)```/s.exec(readText("README.md")) ?? [];
  if (tour === undefined) throw new Error("README.md has no section Tour with a bash block");
  return tour;
}
