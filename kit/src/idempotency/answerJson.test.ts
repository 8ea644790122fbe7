import fc from "fast-check";
import { fromAnswerJson, toAnswerJson } from "./answerJson";

test("an answer comes back with its dates, bigints and buffers", () => {
  const value = fc.letrec((tie) => ({
    leaf: fc.oneof(
      fc.date({ noInvalidDate: true }),
      fc.bigInt(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    ),
    tree: fc.oneof(
      { maxDepth: 3 },
      tie("leaf"),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie("tree"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).tree;
  fc.assert(
    fc.property(value, (answer) => {
      expect(fromAnswerJson(JSON.parse(toAnswerJson(answer)))).toEqual(answer);
    }),
  );
});
