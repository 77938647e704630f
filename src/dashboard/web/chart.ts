import { h, put, s, say } from "./element.js"
import { time } from "./format.js"

/** One line of a chart; undefined where there is no value. */
interface Line {
  readonly name: string
  readonly className: string
  readonly values: readonly (number | undefined)[]
  readonly isFilled?: boolean
}

interface Series {
  /** The time of each value. */
  readonly at: readonly number[]
  readonly lines: readonly Line[]
}

/** A chart over the last minutes, with the value under the pointer or the arrow keys. */
export class Chart {
  readonly element: HTMLElement
  readonly #picture = h("div", { class: "plot" })
  readonly #legend = h("div", { class: "legend" })
  readonly #format: (value: number) => string
  readonly #isLogarithmic: boolean
  #series: Series = { at: [], lines: [] }
  /** The value that is pointed at. */
  #at: number | undefined

  constructor(
    title: string,
    { format, isLogarithmic = false }: { format: (value: number) => string; isLogarithmic?: boolean },
  ) {
    this.#format = format
    this.#isLogarithmic = isLogarithmic
    const head = h("header", {}, h("h2", {}, title), this.#legend)
    this.element = h("section", { class: "card chart" }, head, this.#picture)
    this.#picture.tabIndex = 0
    this.#picture.setAttribute("role", "img")
    this.#picture.setAttribute("aria-label", title)
    this.#picture.addEventListener("pointermove", (event) => {
      const { left, width } = this.#picture.getBoundingClientRect()
      this.#point((event.clientX - left - AXIS) / (width - AXIS))
    })
    this.#picture.addEventListener("pointerleave", () => this.#select(undefined))
    this.#picture.addEventListener("blur", () => this.#select(undefined))
    this.#picture.addEventListener("keydown", ({ key }) => {
      const last = this.#series.at.length - 1
      if (key === "ArrowLeft") this.#select(Math.max(0, (this.#at ?? last + 1) - 1))
      if (key === "ArrowRight") this.#select(Math.min(last, (this.#at ?? last) + 1))
    })
  }

  show(series: Series): void {
    this.#series = series
    this.#draw()
  }

  #point(share: number): void {
    const { at } = this.#series
    const [first, last] = bounds(at)
    const wanted = last - (1 - share) * Math.max(WINDOW_MS, last - first)
    let nearest = 0
    for (const [index, one] of at.entries()) {
      if (Math.abs(one - wanted) < Math.abs((at[nearest] ?? 0) - wanted)) nearest = index
    }
    this.#select(at.length === 0 ? undefined : nearest)
  }

  #select(at: number | undefined): void {
    if (this.#at === at) return
    this.#at = at
    this.#draw()
  }

  #draw(): void {
    const { at, lines } = this.#series
    const width = Math.max(200, this.#picture.clientWidth)
    const height = this.#picture.clientHeight || 150
    const values = lines.flatMap((line) => line.values.filter((value) => value !== undefined))
    const scale = scaleOf(values, height - 18, this.#isLogarithmic)
    const [first, last] = bounds(at)
    const start = last - Math.max(WINDOW_MS, last - first)
    const x = (when: number) => AXIS + ((when - start) / Math.max(1, last - start)) * (width - AXIS - 2)
    const marks = scale.ticks.map((value) =>
      s(
        "g",
        {},
        s("line", { class: "grid", x1: AXIS, x2: width, y1: scale.y(value), y2: scale.y(value) }),
        s(
          "text",
          { class: "tick", x: AXIS - 6, y: scale.y(value) + 3.5, "text-anchor": "end" },
          this.#format(value),
        ),
      ),
    )
    const shapes = lines.flatMap((line) => shapesOf(line, at.map(x), scale))
    const chosen = this.#at === undefined ? undefined : at[this.#at]
    const cursor =
      chosen !== undefined &&
      s("line", { class: "cursor", x1: x(chosen), x2: x(chosen), y1: 0, y2: height - 18 })
    const from = s(
      "text",
      { class: "tick", x: AXIS, y: height - 2 },
      `${Math.round((last - start) / 60_000)} min ago`,
    )
    const to = s("text", { class: "tick", x: width - 2, y: height - 2, "text-anchor": "end" }, "now")
    put(
      this.#picture,
      s(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
        ...marks,
        ...shapes,
        cursor,
        from,
        to,
      ),
    )
    const index = this.#at ?? at.length - 1
    put(
      this.#legend,
      ...(chosen === undefined ? [] : [h("span", { class: "when" }, time(chosen))]),
      ...lines.map(({ name, className, values: all }) => {
        const value = all[index]
        const shown = h("b", {})
        say(shown, value === undefined ? "–" : this.#format(value))
        return h("span", { class: `key ${className}` }, name, shown)
      }),
    )
  }
}

/** A line without axes, as wide as its place. */
export function sparkline(values: readonly (number | undefined)[], className: string): SVGElement {
  const scale = scaleOf(
    values.filter((value) => value !== undefined),
    32,
    false,
  )
  const shown = values.slice(-SPARK_POINTS)
  const step = 200 / Math.max(LEAST_POINTS, shown.length - 1)
  const xs = shown.map((_, at) => 200 - (shown.length - 1 - at) * step)
  const line: Line = { name: "", className, values: shown, isFilled: true }
  return s(
    "svg",
    { class: "spark", viewBox: "0 -2 200 36", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...shapesOf(line, xs, scale),
  )
}

function shapesOf({ className, values, isFilled }: Line, xs: readonly number[], { y }: Scale): SVGElement[] {
  const runs: string[][] = [[]]
  for (const [at, value] of values.entries()) {
    if (value === undefined) {
      if (runs.at(-1)?.length !== 0) runs.push([])
    } else runs.at(-1)?.push(`${(xs[at] ?? 0).toFixed(1)},${y(value).toFixed(1)}`)
  }
  return runs.flatMap((run) => {
    const [begin, end] = [run[0], run.at(-1)]
    if (begin === undefined || end === undefined) return []
    const floor = y(0).toFixed(1)
    const area = `M${begin.split(",")[0]},${floor}L${run.join("L")}L${end.split(",")[0]},${floor}Z`
    const line = run.length === 1 ? `M${begin}h.1` : `M${run.join("L")}`
    return [
      ...(isFilled === true ? [s("path", { class: `area ${className}`, d: area })] : []),
      s("path", { class: `line ${className}`, d: line }),
    ]
  })
}

interface Scale {
  y(value: number): number
  readonly ticks: readonly number[]
}

function scaleOf(values: readonly number[], height: number, isLogarithmic: boolean): Scale {
  const most = Math.max(...values, 0)
  if (isLogarithmic && most > 0) {
    const low = Math.floor(Math.log10(Math.max(0.01, Math.min(...values.filter((value) => value > 0)))))
    const high = Math.max(low + 1, Math.ceil(Math.log10(most)))
    const y = (value: number) => {
      const share = (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)
      return height - Math.max(0, share) * (height - 8)
    }
    return { y, ticks: Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at)) }
  }
  const top = niceAbove(most)
  return { y: (value) => height - (value / top) * (height - 8), ticks: [0, top / 2, top] }
}

function niceAbove(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 10].find((step) => value <= step * power) ?? 10) * power
}

function bounds(at: readonly number[]): readonly [number, number] {
  return [at[0] ?? Date.now(), at.at(-1) ?? Date.now()]
}

const AXIS = 46
/** The time that a chart shows at least. */
const WINDOW_MS = 60_000
const SPARK_POINTS = 120
const LEAST_POINTS = 20
