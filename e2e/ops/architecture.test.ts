import { PROCESSES, calledBy, drawnCalls } from "./repository";

test.each(PROCESSES.map((process) => [process.name, process] as const))(
  "ARCHITECTURE.md draws whom %s calls, and nobody else",
  (name, process) => {
    expect(drawnCalls().get(name)).toEqual(calledBy(process));
  },
);
