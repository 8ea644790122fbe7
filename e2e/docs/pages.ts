import { renderChart } from "./renderChart";
import { renderErrors } from "./renderErrors";
import { renderMetrics } from "./renderMetrics";
import { renderVectors } from "../wire/vectors";

/** Every generated file, by its path from the repository's root. */
export const pages: Record<string, () => string> = {
  "docs/errors.md": renderErrors,
  "docs/metrics.md": renderMetrics,
  "helm/wonrail/README.md": renderChart,
  "proto/baseline/golden.json": renderVectors,
};
