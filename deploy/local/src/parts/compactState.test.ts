import { HEADERS_KEPT, withoutHistory, type AnvilState } from "./compactState";

const block = (number: number): AnvilState["blocks"][number] => ({
  header: { number: `0x${number.toString(16)}` },
});
const transaction = (block_number: number): AnvilState["transactions"][number] => ({
  block_number,
  info: { traces: [{ call: "data" }] },
});

test("keeps the first header and the newest ones, in any order of the input", () => {
  const head = HEADERS_KEPT + 10;
  const blocks = [head, 5, 0, 10, 11].map(block);
  const kept = withoutHistory({ blocks, transactions: [] }, 128).blocks;
  expect(kept.map(({ header }) => Number(header.number))).toEqual([head, 0, 11]);
});

test("keeps the transactions of the newest blocks, without their call traces", () => {
  const state = { blocks: [block(500)], transactions: [372, 373, 500].map(transaction) };
  expect(withoutHistory(state, 128).transactions).toEqual([
    { block_number: 373, info: { traces: [] } },
    { block_number: 500, info: { traces: [] } },
  ]);
});
