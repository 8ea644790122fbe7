import { type Page } from "../support/browser";

const CLICKS = 3;

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
  const answer = `${block} .live-responses-table .response`;
  const answered = `document.querySelector('${answer} .response-col_status')`;
  await page.click(`${block} .execute`);
  // The page fetches parts of the document while it opens an operation, and is deaf meanwhile: a person would click again too.
  for (let again = 0; again < CLICKS && !(await page.soon(answered)); again += 1)
    if (!(await page.evaluate(`!!document.querySelector('${block} .loading-container')`)))
      await page.click(`${block} .execute`);
  await page.until(answered);
  await page.evaluate(`document.querySelector('${block}').scrollIntoView()`);
  const read = (part: string) =>
    page.evaluate<string>(`document.querySelector('${answer} ${part}').innerText`);
  return {
    status: (await read(".response-col_status")).trim(),
    text: await read(".response-col_description"),
  };
}
