export type Untroubled = (trouble: string, work: () => void) => void;

/** For housekeeping, whose failure does not stop the stack: a failure is logged once, and again only after a success. */
export function untroubledBy(say: (message: string) => void): Untroubled {
  const said = new Set<string>();
  return (trouble, work) => {
    try {
      work();
      said.delete(trouble);
    } catch (error) {
      if (said.has(trouble)) return;
      said.add(trouble);
      say(`${trouble} (${error instanceof Error ? error.message : String(error)}), which is tried again.`);
    }
  };
}
