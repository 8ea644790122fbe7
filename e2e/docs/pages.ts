import { renderChart } from "./renderChart";
import { renderErrors } from "./renderErrors";

/** Every generated page, by its path from the repository's root. */
export const pages: Record<string, () => string> = {
  "docs/errors.md": renderErrors,
  "helm/wonrail/README.md": renderChart,
};
