export type RetryingTask = (trouble: string, work: () => void) => void;

/**
 * Runs housekeeping whose failure must not stop the stack. Logs a failure once, and again only
 * after a success.
 */
export function createRetryingTask(say: (message: string) => void): RetryingTask {
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
