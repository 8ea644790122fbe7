import { NETWORKS } from "@wonrail/kit/contract/networks";
import { readText } from "./repository";

// Records of other networks are left to their owners. So partners must be able to name the
// service's own network, under one name from the chart's values to the SDK.

interface Named {
  enum: string[];
}

test("chart, API and SDK accept the networks that a service can run on", () => {
  const chart = JSON.parse(readText("helm/wonrail/values.schema.json")) as {
    properties: { chain: { properties: { network: Named } } };
  };
  expect(chart.properties.chain.properties.network.enum).toEqual(NETWORKS);
  const { NetworkType } = (
    JSON.parse(readText("gateway/openapi.json")) as { components: { schemas: { NetworkType: Named } } }
  ).components.schemas;
  expect(NetworkType.enum).toEqual(expect.arrayContaining([...NETWORKS]));
  const library = /const NetworkType: \{([^}]*)\}/.exec(readText("sdk/api.md"))![1]!;
  expect([...library.matchAll(/"([A-Z_]+)"/g)].map((match) => match[1])).toEqual(NetworkType.enum);
});
