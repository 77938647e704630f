import { human } from "../tools/human-number.js"
import { type Bar, type Measurement, type RowLabel, reaches } from "./row.js"

export interface Measured {
  readonly row: RowLabel
  readonly measurement: Measurement
}

/** A row that could not be measured, for a reason that is no failure of this project. */
export interface Unmeasured {
  readonly row: RowLabel
  readonly problem: string
}

export type Result = Measured | Unmeasured

type Cells = readonly string[]

const headings: Cells = ["name", "value", "unit", "limit", "ratio", "bar", "p50", "p99"]
const leftAligned: ReadonlySet<string> = new Set(["name", "unit", "bar"])

export function table(results: readonly Result[]): string {
  const lines = [headings, ...results.map(cells)]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => widthOf(line, column))))
  return lines.map((line) => `${aligned(line, widths)}\n`).join("")
}

/** What is to be said under the table. */
export function closingLine(results: readonly Result[]): string {
  const missed = results.filter((result) => result.row.bar && !isReached(result.row.bar, result))
  const barred = results.filter(({ row }) => row.bar).length
  if (missed.length > 0) return `missed its bar: ${missed.map(({ row }) => row.name).join(", ")}\n`
  return barred === 0 ? "no bars to reach\n" : `every bar reached (${barred})\n`
}

export function json(results: readonly Result[]): string {
  return `${JSON.stringify(results.map(entry), undefined, 2)}\n`
}

function entry(result: Result) {
  const { name, unit } = result.row
  if ("problem" in result) return { name, unit, problem: result.problem }
  const { value, ...rest } = result.measurement
  return { name, value, unit, ...rest }
}

function isReached(bar: Bar, result: Result): boolean {
  return "measurement" in result && reaches(bar, result.measurement)
}

/** What a row says instead of figures takes as much room as it needs, across all columns. */
function widthOf(line: Cells, column: number): number {
  return line.length === headings.length || column === 0 ? (line[column]?.length ?? 0) : 0
}

function cells(result: Result): Cells {
  const { row } = result
  if ("problem" in result) return [row.name, result.problem]
  const { measurement } = result
  const { value, limit, ratio, p50Us, p99Us } = measurement
  const perSecond = row.unit.endsWith("/s") ? "/s" : ""
  return [
    row.name,
    cell(value, perSecond),
    row.unit.slice(0, row.unit.length - perSecond.length),
    cell(limit, perSecond),
    cell(ratio, ""),
    row.bar ? barCell(row.bar, measurement) : "",
    duration(p50Us),
    duration(p99Us),
  ]
}

function cell(value: number | undefined, suffix: string): string {
  return value === undefined ? "" : human(value) + suffix
}

function duration(us: number | undefined): string {
  if (us === undefined || us < 1e3) return cell(us, "us")
  return us < 1e6 ? cell(us / 1e3, "ms") : cell(us / 1e6, "s")
}

function barCell(bar: Bar, measurement: Measurement): string {
  const sign = bar.better === "higher" ? ">=" : "<="
  return `${bar.of} ${sign} ${bar.at} ${reaches(bar, measurement) ? "ok" : "miss"}`
}

function aligned(line: Cells, widths: readonly number[]): string {
  const padded = line.map((text, column) => {
    const width = widths[column] ?? 0
    return leftAligned.has(headings[column] ?? "") ? text.padEnd(width) : text.padStart(width)
  })
  return padded.join("  ").trimEnd()
}
