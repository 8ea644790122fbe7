import { feedConformance } from "./testing/conformance";

feedConformance("the feed alone", async () => undefined);
