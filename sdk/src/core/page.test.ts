import { fakeFetch, success, type Asked } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";

/** A list of five, served as the service does. */
function serveFive({ url }: Asked): Response {
  const limit = Number(url.searchParams.get("limit") ?? 20);
  const cursor = url.searchParams.get("cursor");
  const currentPage = cursor === null ? Number(url.searchParams.get("currentPage") ?? 1) : null;
  const start = cursor === null ? (currentPage! - 1) * limit : Number(cursor);
  const items = [1, 2, 3, 4, 5].slice(start, start + limit).map((number) => ({ walletId: `wal_${number}` }));
  const hasNext = start + limit < 5;
  const nextCursor = hasNext ? String(start + limit) : null;
  return success({ items, pagination: { limit, currentPage, hasNext, nextCursor, totalCount: 5 } });
}

function clientOf() {
  const { fetch, asked } = fakeFetch(serveFive);
  return {
    wallets: new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch }).wallets,
    asked,
  };
}

test("a page has its items and knows whether another one follows", async () => {
  const page = await clientOf().wallets.list({ limit: 2, currentPage: 2 });
  expect(page.items).toEqual([{ walletId: "wal_3" }, { walletId: "wal_4" }]);
  expect(page.pagination).toMatchObject({ currentPage: 2, totalCount: 5 });
  expect(page.hasNextPage()).toBe(true);
  const last = await page.getNextPage();
  expect(last?.items).toEqual([{ walletId: "wal_5" }]);
  expect(await last?.getNextPage()).toBeUndefined();
});

test("for await visits all items, and each page keeps the filters and the limit", async () => {
  const { wallets, asked } = clientOf();
  const seen: string[] = [];
  for await (const { walletId } of wallets.list({ limit: 2, walletType: "NORMAL" })) seen.push(walletId);
  expect(seen).toEqual(["wal_1", "wal_2", "wal_3", "wal_4", "wal_5"]);
  expect(asked.map(({ url }) => url.search)).toEqual([
    "?walletType=NORMAL&limit=2",
    "?walletType=NORMAL&limit=2&cursor=2",
    "?walletType=NORMAL&limit=2&cursor=4",
  ]);
});

test("leaving the loop early requests no further page", async () => {
  const { wallets, asked } = clientOf();
  for await (const { walletId } of wallets.list({ limit: 2 })) if (walletId === "wal_2") break;
  expect(asked).toHaveLength(1);
});

test("a page can be iterated from its position, and has its response", async () => {
  const { data: page, requestId } = await clientOf()
    .wallets.list({ limit: 2, currentPage: 2 })
    .withResponse();
  const seen: string[] = [];
  for await (const { walletId } of page) seen.push(walletId);
  expect(seen).toEqual(["wal_3", "wal_4", "wal_5"]);
  expect(requestId).toBe("req_1");
});

test("types of wallet transactions are joined, and dates become strings", async () => {
  const { wallets, asked } = clientOf();
  await wallets.listTransactions("wal_1", { type: ["PAYMENT", "REFUND"], from: new Date(0) });
  expect(asked[0]!.url.search).toBe("?type=PAYMENT%2CREFUND&from=1970-01-01T00%3A00%3A00.000Z");
});

test.each([[[]], [[""]], [""], [null]])(
  "the type %p is refused as the service would, since a list without its filter is another list",
  async (type) => {
    const { wallets, asked } = clientOf();
    await expect(wallets.listTransactions("wal_1", { type: type as never })).rejects.toMatchObject({
      name: "InvalidRequestError",
      code: "REQ_001",
      details: { fields: [{ path: "type", message: "must be a type or an array of types" }] },
    });
    expect(asked).toHaveLength(0);
  },
);

test("a statement without a type filter has no type in its query", async () => {
  const { wallets, asked } = clientOf();
  await wallets.listTransactions("wal_1", {});
  expect(asked[0]!.url.search).toBe("");
});
