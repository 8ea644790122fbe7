import { spawnSync } from "node:child_process";
import { readCallTable, ROOT, readText } from "./repository";

// deploy/kube/smoke.sh needs a cluster. This test runs its parts with recorded answers: a failure
// must end it with 1.

/** Runs a line of bash with the script's functions, on a cluster that answers as stated. */
function run(kubectl: string, line: string) {
  const script = `kubectl() { ${kubectl} ; }; export -f kubectl; sleep() { :; }; source deploy/kube/smoke.sh; ${line}; echo and on`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: ROOT, encoding: "utf8" });
  return { status, said: stdout + stderr };
}
const fakePod = (phase: string, said: string) =>
  `case "$*" in *"get pod "*) echo ${phase} ;; *logs*) echo '${said}' ;; esac`;

test("a failed story ends the run", () => {
  const { status, said } = run(fakePod("Failed", "alice has 1"), `told "the story" outcome story`);
  expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining("story: alice has 1") });
  expect(said).not.toContain("and on");
  const well = run(fakePod("Succeeded", "final in block 7"), `told "the story" outcome story`);
  expect(well).toEqual({ status: 0, said: expect.stringMatching(/the story: final in block 7\nand on\n$/) });
});

test("a run that ends prints the pods' errors, because their logs go with the namespace", () => {
  const lines = `'{"level":"info","msg":"ready"}' '{"level":"info","status":503,"cause":"away"}' '{"level":"error","msg":"it broke"}'`;
  const { status, said } = run(`case "$*" in *" logs -l "*) printf '%s\\n' ${lines} ;; esac`, `fail "load"`);
  expect(status).toBe(1);
  expect(said).toMatch(/NOT AS IT SHOULD BE: load\n.*"away"\}\n.*"it broke"\}\n$/);
  expect(said).not.toContain("ready");
});

test("books that differ end the run", () => {
  const { status, said } = run(`echo "1 violations"; return 1`, `told "books" books`);
  expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining("the books: 1 violations") });
  expect(said).not.toContain("and on");
});

test("a failed restart fails the step although later restarts succeed", () => {
  const stuck = `[[ "$*" != *wonrail-ledger* ]]`;
  for (const step of ["restart", "kill_pods"])
    expect(run(stuck, `if ${step}; then exit 0; fi; exit 5`)).toMatchObject({ status: 5 });
});

test("a probe that never ran does not prove that an edge is closed", () => {
  const { status, said } = run(fakePod("Pending", ""), `if reaches "app: x" ledger 7000; then :; fi`);
  expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining("the probe did not run") });
  const closed = run(fakePod("Failed", ""), `if reaches "app: x" ledger 7000; then exit 5; fi`);
  expect(closed).toMatchObject({ status: 0 });
});

test("smoke.sh expects exactly the drawn edges to be open", () => {
  const drawn = new Set([...readCallTable()].flatMap(([from, calls]) => calls.map((to) => `${from} ${to}`)));
  const tried = [...readText("deploy/kube/smoke.sh").matchAll(/^for edge in (.+); do$/gm)].map(([, list]) =>
    [...list!.matchAll(/"([a-z-]+) wonrail-([a-z-]+) 7000"/g)].map(([, from, to]) =>
      drawn.has(`${from} ${to}`),
    ),
  );
  expect(tried).toEqual([
    [true, true],
    [false, false, false, false],
  ]);
});

test("smoke.sh checks no outcome within an argument, where only the subshell would fail", () => {
  const checks = /\bsay .*\$\((outcome|books|kek_status|wallet_admin|kube exec)\b/;
  const lines = readText("deploy/kube/smoke.sh").split("\n");
  expect(lines.filter((line) => checks.test(line))).toEqual([]);
});

test("every pod command of the pages is tried with an operator's arguments", () => {
  const commands = run(":", "operators_commands org_1 wal_1 trf_1").said.split("\n").slice(0, -2);
  expect(commands).toContain(
    'kubectl exec deployment/wonrail-wallet -- node bin/admin.mjs wallet reopen --org org_1 --wallet wal_1 --reason "smoke test"',
  );
  expect(commands.filter((command) => /[<…]| -n /.test(command))).toEqual([]);
});

test("a command that fails, or lacks arguments, ends the run", () => {
  expect(run("return 3", `try_command "kubectl exec deployment/a -- b"`)).toMatchObject({ status: 1 });
  expect(run(":", `try_command "kubectl exec deployment/a -- b <name>"`)).toMatchObject({ status: 1 });
  const nothing = `echo "There is no such dead letter that waits for a replay."; return 1`;
  expect(run(nothing, `try_command "kubectl exec deployment/a -- b"`)).toMatchObject({ status: 0 });
  const done = `echo "trf_1 is DONE: only one that is open can be closed."; return 1`;
  expect(run(done, `try_command "kubectl exec deployment/a -- b"`)).toMatchObject({ status: 0 });
});
