import { renderApiChanges } from "./apiChanges/renderApiChanges";
import { renderAlerts } from "./renderAlerts";
import { renderChart } from "./renderChart";
import { renderCli } from "./renderCli";
import { renderConfiguration } from "./renderConfiguration";
import { renderCoverage } from "./renderCoverage";
import { renderDecisions } from "./renderDecisions";
import { renderErrorPage, renderErrors } from "./renderErrors";
import { renderEvents } from "./renderEvents";
import { renderMetrics } from "./renderMetrics";
import { renderPythonSdk } from "./renderPythonSdk";
import { renderRest } from "./renderRest";
import { renderSdk } from "./renderSdk";
import { renderContracts } from "../evidence/renderContracts";
import { renderEvidence } from "../evidence/renderEvidence";
import { renderVectors } from "../wire/vectors";
import { wrapMarkdown } from "../words/wrapMarkdown";

const renderers: Record<string, () => string> = {
  "docs/adr/index.md": renderDecisions,
  "docs/contribute/error-coverage.md": renderCoverage,
  "docs/evidence/contracts.md": renderContracts,
  "docs/evidence/index.md": renderEvidence,
  "docs/guides/python.md": renderPythonSdk,
  "docs/guides/sdk.md": renderSdk,
  "docs/operate/alerts.md": renderAlerts,
  "docs/reference/api-changes.md": () => renderApiChanges(),
  "docs/reference/chart.md": renderChart,
  "docs/reference/cli.md": renderCli,
  "docs/reference/configuration.md": renderConfiguration,
  "docs/reference/errors.md": renderErrorPage,
  "docs/reference/events.md": renderEvents,
  "docs/reference/metrics.md": renderMetrics,
  "docs/reference/rest.md": renderRest,
  "proto/baseline/golden.json": renderVectors,
  // The library is published without docs/.
  "sdk/errors.md": renderErrors,
};

/** Every generated file, by its path from the repository's root. */
export const pages: Record<string, () => string> = Object.fromEntries(
  Object.entries(renderers).map(([path, render]) => [
    path,
    path.endsWith(".md") ? () => wrapMarkdown(render()) : render,
  ]),
);
