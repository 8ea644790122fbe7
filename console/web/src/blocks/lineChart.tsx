import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import UPlot from "uplot";

export interface Point {
  /** Milliseconds since 1970. */
  atMs: number;
  value: number;
}

export interface LineChartProps {
  name: string;
  unit: string;
  points: readonly Point[];
}

const HEIGHT = 220;

/** A line over time. The default export, because `Chart` loads it when it is drawn. */
export default function LineChart({ name, unit, points }: LineChartProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const element = box.current!;
    const chart = new UPlot(optionsOf(element, name, unit), dataOf(points), element);
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [name, unit, points, scheme]);
  return <div ref={box} className="chart" role="img" aria-label={describe(name, unit, points)} />;
}

function optionsOf(element: HTMLElement, name: string, unit: string): UPlot.Options {
  const style = getComputedStyle(element);
  const axis = {
    stroke: style.getPropertyValue("--quiet"),
    grid: { stroke: style.getPropertyValue("--line"), width: 1 },
    ticks: { stroke: style.getPropertyValue("--line"), width: 1 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    axes: [
      axis,
      { ...axis, size: 90, values: (_, values) => values.map((value) => `${short(value)} ${unit}`) },
    ],
    series: [
      {},
      {
        label: name,
        stroke: style.getPropertyValue("--mantine-color-anchor"),
        width: 2,
        points: { size: 4 },
      },
    ],
  };
}

function dataOf(points: readonly Point[]): UPlot.AlignedData {
  return [points.map(({ atMs }) => atMs / 1000), points.map(({ value }) => value)];
}

function describe(name: string, unit: string, points: readonly Point[]): string {
  const values = points.map(({ value }) => value);
  const last = values.at(-1) ?? 0;
  return `${name}: last ${last} ${unit}, lowest ${Math.min(...values)}, highest ${Math.max(...values)}`;
}

function short(value: number): string {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 }).format(value);
}
