import { readText } from "./repository";

test("the tour of the README needs nothing beyond Node, curl and the shell", () => {
  const tour = /## A ten-line tour.*?```bash\n(.*?)```/s.exec(readText("README.md"))![1]!;
  const programs = [...tour.matchAll(/(?:^|\$\(|\{) *([a-z]+)(?=[ )])/gm)].map(([, program]) => program!);
  expect(programs).toContain("curl");
  expect(programs.filter((program) => !["curl", "node", "post"].includes(program))).toEqual([]);
});
