import { type Page } from "../support/browser";

/** Opens the API reference and enters the key, as its readers do. */
export async function authorise(page: Page, docsUrl: string, apiKey: string): Promise<void> {
  await page.open(docsUrl);
  await page.until("document.body?.innerText.includes('Glossary')");
  await page.type("input.scalar-password-input", apiKey);
}

export interface DocumentedOperation {
  /** The tag in lower case, with hyphens. */
  tag: string;
  method: string;
  path: string;
}

/**
 * Sends an operation's request with its example. Returns the status and the text that the page
 * shows.
 */
export async function execute(
  page: Page,
  { tag, method, path }: DocumentedOperation,
): Promise<{ status: string; text: string }> {
  const id = `tag/${tag}/${method}${path}`;
  // The page renders a section when the reader comes near it.
  await page.evaluate(`location.hash = ${JSON.stringify(id)}`);
  await page.click(`section[id$="${id}"] .show-api-client-button`);
  const send = buttonWith("Send");
  await page.until(send);
  await page.evaluate(`${send}.click()`);
  const shown = `document.querySelector('[role=dialog]').innerText`;
  await page.until(`/"requestId":/.test(${shown}) && /\\b\\d{3} [A-Z]/i.test(${shown})`);
  const text = await page.evaluate<string>(shown);
  const close = buttonWith("Close Client");
  await page.evaluate(`${close}.click()`);
  return { status: /\b([1-5]\d\d) (?:OK|[A-Z][a-z])/.exec(text)?.[1] ?? "", text };
}

/** The dialog's button whose text starts with this. */
function buttonWith(text: string): string {
  const buttons = "[...document.querySelectorAll('[role=dialog] button')]";
  return `${buttons}.find((button) => button.innerText.trim().startsWith(${JSON.stringify(text)}))`;
}
