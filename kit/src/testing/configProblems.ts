/** The lines that refuse a configuration; none when it is valid. */
export function configProblems(read: (exit: (message: string) => never) => unknown): string[] {
  try {
    read((message) => {
      throw new Error(message);
    });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1, -1);
  }
}
