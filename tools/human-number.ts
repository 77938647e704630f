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
