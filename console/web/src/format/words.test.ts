import { enumWords, methodWords } from "./words";

test("an enum value is written without its prefix", () => {
  expect(enumWords("DEAD_LETTER_STATE_REPLAY_REQUESTED", "DEAD_LETTER_STATE_")).toBe("replay requested");
  expect(enumWords("IN_FLIGHT")).toBe("in flight");
  expect(enumWords(undefined)).toBe("—");
});

test("a method is written as a sentence", () => {
  expect(methodWords("wonrail.relayer.v1.RelayerAdminService/PauseQueue")).toBe("Pause queue");
});
