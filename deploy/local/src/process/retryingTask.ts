export type RetryingTask = (trouble: string, work: () => void) => void;

/**
 * Runs housekeeping whose failure must not stop the stack. Logs a failure once, and again only
 * after a success.
 */
export function createRetryingTask(report: (message: string) => void): RetryingTask {
  const reported = new Set<string>();
  return (trouble, work) => {
    try {
      work();
      reported.delete(trouble);
    } catch (error) {
      if (reported.has(trouble)) return;
      reported.add(trouble);
      report(`${trouble} (${error instanceof Error ? error.message : String(error)}), which is tried again.`);
    }
  };
}
