import { type Answer, type Json } from "../support/api";
import { type TestStack } from "../support/startStack";

/** Twice a request's time limit. A hanging request would never answer. */
const IN_TIME_MS = 20_000;

/** Codes of simultaneous requests while these processes accept everything and answer nothing. */
export async function answerCodesDuringHang(
  stack: TestStack,
  names: string[],
  asked: (() => Promise<Answer<Json>>)[],
): Promise<(string | undefined)[]> {
  const hanging: number[] = [];
  try {
    for (const name of names) hanging.push(await stack.kill(name, "SIGSTOP"));
    const startedMs = performance.now();
    const answers = await Promise.all(asked.map((ask) => ask()));
    expect(performance.now() - startedMs).toBeLessThan(IN_TIME_MS);
    return answers.map(({ body }) => body.error?.code);
  } finally {
    for (const pid of hanging) process.kill(pid, "SIGCONT");
  }
}
