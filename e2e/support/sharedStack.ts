import { homeAt, type Home } from "@wonrail/local/home";
import { type Stack } from "@wonrail/local/stackFile";
import { readStack } from "./stackFile";

/**
 * A running stack that several test files use at the same time. Each works in organisations of its
 * own, and stops no process.
 */
export interface SharedStack {
  home(): Home;
  stack(): Stack;
}

const START_MS = 480_000;

/** Joins the users of the shared stack for one test file. `setup/keepStack.js` starts and stops it. */
export function useSharedStack(): SharedStack {
  let dir: string;
  beforeAll(async () => void (dir = await ask("POST")), START_MS);
  afterAll(() => ask("DELETE"));
  return { home: () => homeAt(dir), stack: () => readStack(dir) };
}

async function ask(method: "POST" | "DELETE"): Promise<string> {
  const response = await fetch(process.env.WONRAIL_TEST_SHARED_STACK!, { method });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
