import { rangeOf } from "./replayRange";

test("both ends of the range are included", () => {
  expect(rangeOf({ first: "1", last: " 1,200 " })).toEqual({ after: "0", upTo: "1200" });
  expect(rangeOf({ first: "7", last: "7" })).toEqual({ after: "6", upTo: "7" });
});

test.each([
  ["", "5", "First event must be a whole number from 1."],
  ["0", "5", "First event must be a whole number from 1."],
  ["1", "-5", "Last event must be a whole number from 1."],
  ["1", "2.5", "Last event must be a whole number from 1."],
  ["9", "8", "Last event must not be before the first event."],
])("the range from %j to %j is refused", (first, last, message) => {
  expect(() => rangeOf({ first, last })).toThrow(message);
});
