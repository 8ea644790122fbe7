import { lazy, type ReactNode, Suspense } from "react";
import { type LineChartProps } from "./lineChart";
import { Empty, Loading } from "./states";

const LineChart = lazy(() => import("./lineChart"));

/** Loads the chart library only when there is something to draw. */
export function Chart(props: LineChartProps): ReactNode {
  if (props.points.length < 2) return <Empty>Not enough points for a chart yet.</Empty>;
  return (
    <Suspense fallback={<Loading what="the chart" />}>
      <LineChart {...props} />
    </Suspense>
  );
}
