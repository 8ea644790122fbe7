import { type Operation } from "./operations";
import { type Violation } from "./violation";

/** The code of an error that the product did not foresee. An outage has SYS_002 or SYS_003. */
const UNEXPECTED = "SYS_001";

/** A fault makes a part busy or unreachable. It must not cause an error that the product did not foresee. */
export function findUnexpectedErrors(operations: Operation[]): Violation[] {
  return operations
    .filter(({ answers }) => answers.some(({ error }) => error?.code === UNEXPECTED))
    .map(({ id, organisation, name }) => {
      const message = `${name} was answered with ${UNEXPECTED}`;
      return { check: "unexpected", organisation, message, operations: [id] };
    });
}
