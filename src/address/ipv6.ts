/**
 * Returns the canonical form of an IPv6 address (RFC 5952), or undefined if `text` is not one. An address has
 * many spellings and an authority must have one, or a quarantined node could be reached under another.
 */
export function canonicalIpv6(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  const groups = parseGroups(text)
  return groups === undefined ? undefined : format(groups)
}

/** "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255" */
const LONGEST = 45
const GROUPS = 8

function parseGroups(text: string): number[] | undefined {
  const gap = text.indexOf("::")
  if (gap < 0) {
    const groups = parseRun(text)
    return groups?.length === GROUPS ? groups : undefined
  }
  const before = gap === 0 ? [] : parseRun(text.slice(0, gap), false)
  const after = gap + 2 === text.length ? [] : parseRun(text.slice(gap + 2))
  if (before === undefined || after === undefined) return undefined
  const missing = GROUPS - before.length - after.length
  return missing < 1 ? undefined : [...before, ...new Array<number>(missing).fill(0), ...after]
}

function parseRun(text: string, mayEndInIpv4 = true): number[] | undefined {
  const groups: number[] = []
  const words = text.split(":")
  for (const [index, word] of words.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(word)) {
      groups.push(Number.parseInt(word, 16))
    } else {
      const last = index === words.length - 1
      const ipv4 = mayEndInIpv4 && last ? parseIpv4(word) : undefined
      if (ipv4 === undefined) return undefined
      groups.push(...ipv4)
    }
  }
  return groups
}

function parseIpv4(text: string): [number, number] | undefined {
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number)
  return Math.max(a, b, c, d) > 255 ? undefined : [a * 256 + b, c * 256 + d]
}

function format(groups: readonly number[]): string {
  const [start, length] = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":")
  if (length < 2) return hex(groups)
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}

/** Returns the first of the longest runs of zero groups: its start and its length. */
function longestZeros(groups: readonly number[]): [start: number, length: number] {
  let best: [number, number] = [0, 0]
  let length = 0
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0
    if (length > best[1]) best = [index - length + 1, length]
  }
  return best
}
