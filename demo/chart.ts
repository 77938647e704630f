/** Bars of the values side by side, as lines of text; the highest bar is as high as the chart. */
export function chart(values: readonly number[], height: number): readonly string[] {
  const highest = Math.max(1, ...values)
  const eighths = values.map((value) => Math.round((value / highest) * height * FULL))
  return Array.from({ length: height }, (_, line) => {
    const below = (height - 1 - line) * FULL
    return eighths.map((bar) => BLOCKS[Math.max(0, Math.min(FULL, bar - below))]).join("")
  })
}

const BLOCKS = " ▁▂▃▄▅▆▇█"
const FULL = BLOCKS.length - 1
