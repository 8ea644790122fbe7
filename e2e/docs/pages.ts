import { renderChart } from "./renderChart";
import { renderCoverage } from "./renderCoverage";
import { renderDecisions } from "./renderDecisions";
import { renderErrors } from "./renderErrors";
import { renderEvents } from "./renderEvents";
import { renderMetrics } from "./renderMetrics";
import { renderVectors } from "../wire/vectors";

/** Every generated file, by its path from the repository's root. */
export const pages: Record<string, () => string> = {
  "docs/adr/README.md": renderDecisions,
  "docs/coverage.md": renderCoverage,
  "docs/errors.md": renderErrors,
  "docs/events.md": renderEvents,
  "docs/metrics.md": renderMetrics,
  "helm/wonrail/README.md": renderChart,
  "proto/baseline/golden.json": renderVectors,
  // The library is published without docs/.
  "sdk/errors.md": renderErrors,
};
