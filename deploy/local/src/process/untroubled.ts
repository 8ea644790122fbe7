export type Untroubled = (trouble: string, work: () => void) => void;

/** For housekeeping, which the stack does not end for: what cannot be done is said once, and again only after it went well in between. */
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
