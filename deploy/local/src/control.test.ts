import { parseVerb } from "./control";

test("an unknown command is answered with all commands, status among them", () => {
  expect(() => parseVerb("look")).toThrow(
    'There is no command "look". There are: status, start, stop, restart.',
  );
});
