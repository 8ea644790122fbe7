import fc from "fast-check";
import { createFramer } from "./wholeResponses";

function answer(text: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length);
  return Buffer.concat([length, text]);
}

test("the framer emits each complete frame in order, wherever the stream is cut", () => {
  const texts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 }), (texts, cuts) => {
      const answers = texts.map((text) => answer(Buffer.from(text)));
      const all = Buffer.concat(answers);
      const ends = new Set([0]);
      for (const { length } of answers) ends.add(Math.max(...ends) + length);
      const take = createFramer();
      let given = 0;
      let sent = 0;
      for (const cut of [...cuts, all.length].map((at) => Math.min(at, all.length)).sort((a, b) => a - b)) {
        const whole = take(all.subarray(sent, cut));
        sent = cut;
        if (whole) {
          expect(whole).toEqual(all.subarray(given, given + whole.length));
          given += whole.length;
        }
        expect(given).toBe(Math.max(...[...ends].filter((end) => end <= sent)));
      }
    }),
  );
});

test("the framer refuses a stream that starts with an invalid length", () => {
  expect(() => createFramer()(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toThrow("no Kafka broker");
});
