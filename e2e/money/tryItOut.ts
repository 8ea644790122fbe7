import { type Page } from "../support/browser";

/** Opens the API's pages and gives them the key, as a person who reads them does. */
export async function authorise(page: Page, docsUrl: string, apiKey: string): Promise<void> {
  await page.open(docsUrl);
  await page.until("document.querySelectorAll('.opblock').length > 20");
  await page.click(".scheme-container .authorize");
  await page.type(".auth-container input", apiKey);
  await page.click(".auth-container .authorize");
  await page.until("document.querySelector('.auth-container')?.innerText.includes('Logout')");
  await page.click(".auth-container .btn-done");
}

/** Executes an operation with the example that its fields hold. Gives the status and the text of the answer, as the page shows them. */
export async function execute(
  page: Page,
  tag: string,
  operationId: string,
): Promise<{ status: string; text: string }> {
  const block = `#operations-${tag}-${operationId}`;
  await page.click(`${block} .opblock-summary-control`);
  // The button is there some milliseconds before the page has read the operation, and a click that early is lost: faster than a hand.
  const read = "JSON.stringify(ui.getState().getIn(['spec', 'resolvedSubtrees']) ?? null)";
  await page.until(`${read}.includes('"operationId":"${operationId}"')`);
  await page.click(`${block} .execute`);
  const answer = `${block} .live-responses-table .response`;
  await page.until(`document.querySelector('${answer} .response-col_status')`);
  await page.evaluate(`document.querySelector('${block}').scrollIntoView()`);
  const shown = (part: string) =>
    page.evaluate<string>(`document.querySelector('${answer} ${part}').innerText`);
  return {
    status: (await shown(".response-col_status")).trim(),
    text: await shown(".response-col_description"),
  };
}
