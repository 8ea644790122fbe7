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
  /** The browser's own unless stated. Days and months need the zone in which they were counted. */
  timeZone?: string;
}

const HEIGHT = 240;
/** Counts and won have no fractions: 1, 2, 5, 10 … */
const WHOLE_STEPS = Array.from(
  { length: 45 },
  (_, index) => [1, 2, 5][index % 3]! * 10 ** Math.floor(index / 3),
);
const TWO_DAYS_MS = 2 * 24 * 3600 * 1000;

/** A line over time. The default export, because `Chart` loads it when it is drawn. */
export default function LineChart({ name, unit, points, timeZone }: LineChartProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    const element = box.current!;
    const chart = new UPlot(
      optionsOf(element, { name, unit, points, timeZone: timeZone ?? ownZone() }),
      dataOf(points),
      element,
    );
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [name, unit, points, timeZone, scheme]);
  return <div ref={box} className="chart" role="img" aria-label={describe(name, unit, points)} />;
}

function optionsOf(
  element: HTMLElement,
  { name, unit, points, timeZone }: Required<LineChartProps>,
): UPlot.Options {
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
      {
        ...axis,
        label: `Time (${timeZone})`,
        values: (_, splits) => splits.map(timeFormat(points, timeZone)),
      },
      {
        ...axis,
        size: 120,
        incrs: WHOLE_STEPS,
        values: (_, values) => values.map((value) => `${short(value)} ${unit}`),
      },
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

/** Writes the time of day for less than two days, else the date. */
function timeFormat(points: readonly Point[], timeZone: string): (seconds: number) => string {
  const spanMs = (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0);
  const parts: Intl.DateTimeFormatOptions =
    spanMs < TWO_DAYS_MS ? { hour: "2-digit", minute: "2-digit" } : { month: "2-digit", day: "2-digit" };
  const format = new Intl.DateTimeFormat("en-CA", { ...parts, hourCycle: "h23", timeZone });
  return (seconds) => format.format(seconds * 1000);
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
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
