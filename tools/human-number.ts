/** Three digits that count and a letter for the size: `12.3M`. */
export function human(value: number): string {
  const rounded = Number(value.toPrecision(3))
  for (const [letter, size] of sizes) {
    if (Math.abs(rounded) >= size) return `${(rounded / size).toPrecision(3)}${letter}`
  }
  return Number.isInteger(value) ? String(value) : rounded.toPrecision(3)
}

const sizes = [
  ["G", 1e9],
  ["M", 1e6],
  ["k", 1e3],
] as const

/** A whole number with its digits in groups: `12,345`. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US")
}

/** A time in the unit that suits it: `3.2 ms`, `1.52 s`; `-` if there is none. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return "-"
  return ms < 1_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`
}
