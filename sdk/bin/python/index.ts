// Writes the parts of the Python package that follow from the OpenAPI document.
import { renderContract } from "./renderContract.ts";
import { renderModels } from "./renderModels.ts";
import { renderResources } from "./renderResources.ts";

/** The generated files of the Python package, by their path in the folder sdk. */
export const pythonFiles: Record<string, () => string> = {
  "python/src/wonrail/_contract.py": renderContract,
  "python/src/wonrail/models.py": renderModels,
  "python/src/wonrail/_resources.py": renderResources,
};
