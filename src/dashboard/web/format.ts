/** A number of at most four characters and a unit: 7, 12.3, 1.2k, 34k, 5.6M. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–"
  if (value >= 999_500) return `${digits(value / 1e6)}M`
  if (value >= 9_995) return `${digits(value / 1e3)}k`
  if (value >= 1_000) return Math.round(value).toLocaleString("en")
  return digits(value)
}

function digits(value: number): string {
  if (value >= 99.5 || Number.isInteger(value)) return String(Math.round(value))
  return value >= 9.95 ? String(Math.round(value)) : value.toFixed(1)
}

export function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return "–"
  if (ms >= 9_995) return `${(ms / 1_000).toFixed(0)} s`
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms >= 9.95) return `${Math.round(ms)} ms`
  if (ms >= 0.095) return `${ms.toFixed(1)} ms`
  return `${Math.round(ms * 1_000)} µs`
}

export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000))
  if (seconds < 1) return "just now"
  return `${span(seconds)} ago`
}

export function span(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} days`
}

export function time(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB")
}

/** The address of a node, without its incarnation. */
export function address(node: string): string {
  return node.split("#")[0] || "this node"
}

export function percent(share: number | undefined): string {
  return share === undefined ? "–" : `${Math.round(share * 100)}%`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${short(count)} ${count === 1 ? one : many}`
}
