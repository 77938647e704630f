/**
 * Bars of the values side by side, as lines of text. The highest tenth of the bars is as high as the chart: one
 * value that sticks out would make all others, and the dips among them, too low to see.
 */
export function chart(values: readonly number[], height: number): readonly string[] {
  const sorted = values.toSorted((one, other) => one - other)
  const high = Math.max(1, sorted[Math.floor(values.length * 0.9)] ?? 1)
  const eighths = values.map((value) => Math.round((value / high) * height * FULL))
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * FULL
    return eighths.map((bar) => BLOCKS[Math.max(0, Math.min(FULL, bar - below))]).join("")
  })
}

const BLOCKS = " ▁▂▃▄▅▆▇█"
const FULL = BLOCKS.length - 1
