import { parseVerb } from "./control";

test("a command that nobody knows is answered with all that there are, status among them", () => {
  expect(() => parseVerb("look")).toThrow(
    'There is no command "look". There are: status, start, stop, restart.',
  );
});
