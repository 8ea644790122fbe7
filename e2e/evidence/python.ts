import { join } from "node:path";
import { ROOT } from "../ops/repository";

/** The packages that the evidence needs: `findPython` installs them. */
export const EVIDENCE_PACKAGES = join(ROOT, "e2e/evidence/requirements.txt");
