import { sql } from "@wonrail/kit/db";
import { type NewOperation } from "../../settlement/store/operations";
import { dispatch } from "../../settlement/commands/dispatch";
import { type ChainDouble, createChainDouble, cursorAt, depsOn } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { mints, statesOf, ingestOperations } from "../../testing/operations";

const database = freshDatabase();

test("a nonce far ahead is used when a final block confirms it, and until then the operations carry the reason", async () => {
  const [chain, operations] = [createChainDouble(), await ingestTwoMints()];
  const nonces = { latest: 100_000n, final: 0n };
  await send(chain, nonces);
  expect(await statesOf(database.db, operations)).toEqual(Array(2).fill("PLANNED nonce_unclear"));
  expect(await noncesGiven()).toEqual([]);

  await database.db.run(sql`update operations set retry_at = now()`);
  await send(chain, { ...nonces, final: 99_990n });
  expect(await noncesGiven()).toEqual([100_000n]);
});

test("the next nonce follows the newest block when the key was used after the last final one", async () => {
  await ingestTwoMints();
  await send(createChainDouble(), { latest: 1_000n, final: 0n });
  expect(await noncesGiven()).toEqual([1_000n]);
});

test("a nonce that jumps while custody signs is not used", async () => {
  const [chain, operations] = [createChainDouble(), await ingestTwoMints()];
  let looks = 0;
  const jumping = {
    final: 0n,
    get latest() {
      return looks++ === 0 ? 0n : 100_000n;
    },
  };
  await expect(send(chain, jumping)).rejects.toThrow("far ahead of ours");
  expect(await statesOf(database.db, operations)).toEqual(["PLANNED", "PLANNED"]);
  expect(await noncesGiven()).toEqual([]);
});

test("signing stops while the chain's final block differs from the ingested one, and then resumes", async () => {
  const [chain, operations] = [createChainDouble(), await ingestTwoMints()];
  await cursorAt(database.db, 1_000n);
  chain.replacedFrom = 990n;
  const nonces = { latest: 0n, final: 0n };
  await expect(send(chain, nonces)).rejects.toThrow("block 1000 was final as");
  expect(await statesOf(database.db, operations)).toEqual(["PLANNED", "PLANNED"]);

  chain.replacedFrom = null;
  await send(chain, nonces);
  expect(await noncesGiven()).toEqual([0n]);
});

async function ingestTwoMints(): Promise<NewOperation[]> {
  const operations = await mints(database.db, 2);
  await ingestOperations(database.db, operations);
  return operations;
}

function send({ provider }: ChainDouble, nonces: { latest: bigint; final: bigint }): Promise<boolean> {
  const nonce = async (_address: string, at: unknown) => (at === "latest" ? nonces.latest : nonces.final);
  const deps = depsOn(database.db, createChainDouble());
  return dispatch({ ...deps, provider: { ...provider, nonce } }, new AbortController().signal);
}

async function noncesGiven(): Promise<bigint[]> {
  const rows = await database.db.query<{ nonce: bigint }>(sql`select nonce from transactions order by nonce`);
  return rows.map(({ nonce }) => nonce);
}
