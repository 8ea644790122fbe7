import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** A page of a headless browser, driven by its protocol over a pipe. */
export interface Page {
  open(url: string): Promise<void>;
  /** Value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until an expression is true there. */
  until(expression: string): Promise<void>;
  /** Clicks the first element of a selector when it exists. */
  click(selector: string): Promise<void>;
  /** As typed into the first element of a selector. */
  type(selector: string, text: string): Promise<void>;
  screenshot(): Promise<Buffer>;
  /** A window of this size, of a person who prefers this colour scheme. */
  emulate(screen: { width: number; height: number; scheme: "light" | "dark" }): Promise<void>;
  /** Errors of the page: failed scripts and blocked parts. */
  complaints(): string[];
  close(): Promise<void>;
}

const COMMANDS = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const PATIENCE_MS = 60_000;

/** Undefined where none is installed. */
export function findBrowser(): string | undefined {
  return COMMANDS.find((command) => spawnSync(command, ["--version"]).status === 0);
}

export async function openPage(command: string): Promise<Page> {
  const browser = startBrowser(command);
  try {
    return await pageOf(browser);
  } catch (error) {
    await browser.close();
    throw error;
  }
}

async function pageOf({ send, events, close }: ReturnType<typeof startBrowser>): Promise<Page> {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const ask = (method: string, params = {}) => send(method, params, sessionId as string);
  for (const domain of ["Page", "Runtime", "Log"]) await ask(`${domain}.enable`);

  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  async function shown(): Promise<string> {
    const text = await evaluate<string>("document.body.innerText");
    return `${text.slice(0, 4_000)} ${events
      .filter(isComplaint)
      .map((event) => JSON.stringify(event.params))
      .join(" ")}`;
  }

  async function until(expression: string): Promise<void> {
    for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(50))
      if (await evaluate<boolean>(`!!(${expression})`)) return;
    throw new Error(`the page never came to: ${expression}. It shows: ${await shown()}`);
  }

  async function having(selector: string, action: string): Promise<void> {
    const element = `document.querySelector(${JSON.stringify(selector)})`;
    await until(element);
    await evaluate(`${element}.${action}()`);
  }

  return {
    open: async (url) => void (await ask("Page.navigate", { url })),
    evaluate,
    until,
    click: (selector) => having(selector, "click"),
    async type(selector, text) {
      await having(selector, "focus");
      await ask("Input.insertText", { text });
    },
    async screenshot() {
      const { data } = await ask("Page.captureScreenshot", { format: "png" });
      return Buffer.from(data as string, "base64");
    },
    async emulate({ width, height, scheme }) {
      const features = [{ name: "prefers-color-scheme", value: scheme }];
      await ask("Emulation.setEmulatedMedia", { features });
      const size = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
      await ask("Emulation.setDeviceMetricsOverride", size);
    },
    complaints: () => events.filter(isComplaint).map((event) => JSON.stringify(event.params)),
    close,
  };
}

type Params = Record<string, unknown>;
interface Message {
  id?: number;
  method?: string;
  params?: Params;
  result?: Params;
  error?: { message: string };
}

function isComplaint({ method, params }: Message): boolean {
  if (method === "Runtime.exceptionThrown") return true;
  // Errors that the page catches and only writes to its console.
  if (method === "Runtime.consoleAPICalled") return params!.type === "error";
  return method === "Log.entryAdded" && (params!.entry as { level: string }).level === "error";
}

/** Messages in both directions are JSON texts that end with a NUL. */
function startBrowser(command: string) {
  const profile = mkdtempSync(join(tmpdir(), "wonrail-browser-"));
  const own = [
    "--headless=new",
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
    "--window-size=1280,1600",
  ];
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const child = spawn(command, [...own, ...asRoot, "--disable-gpu", "--disable-dev-shm-usage"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    // The browser's helpers write to the profile until they have ended too.
    detached: true,
  });
  const [toBrowser, fromBrowser] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const waiting = new Map<number, (message: Message) => void>();
  const events: Message[] = [];
  let nextId = 1;
  let received = "";
  fromBrowser.setEncoding("utf8").on("data", (text: string) => {
    const texts = (received + text).split("\0");
    received = texts.pop()!;
    for (const message of texts.map((each) => JSON.parse(each) as Message)) {
      if (message.id === undefined) events.push(message);
      else waiting.get(message.id)?.(message);
    }
  });

  function send(method: string, params: Params, sessionId?: string): Promise<Params> {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the browser did not answer ${method}`)), PATIENCE_MS);
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result!);
      });
      toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  return {
    send,
    events,
    async close() {
      process.kill(-child.pid!, "SIGKILL");
      await exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
