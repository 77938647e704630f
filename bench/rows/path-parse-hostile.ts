import { ActorPath } from "../../src/address/actor-path.js"
import { keep } from "../keep.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"

const sizes = [1_000, 10_000, 100_000] as const
const sampleMs = 4

/** Texts of about `size` characters that somebody could send in the hope that parsing them takes forever. */
const families: Readonly<Record<string, (size: number) => string>> = {
  "long segment": (size) => `troupe://prod/user/${"a".repeat(size)}`,
  "long segment, then a fault": (size) => `troupe://prod/user/${"a".repeat(size)}^`,
  "many segments": (size) => `troupe://prod/user${"/a".repeat(size / 2)}`,
  "many segments, then a fault": (size) => `troupe://prod/user${"/a".repeat(size / 2)}/^`,
  "many empty segments": (size) => `troupe://prod/user${"/".repeat(size)}`,
  "many escapes": (size) => `troupe://prod/user/${"%41".repeat(size / 3)}`,
  "many escapes that stay": (size) => `troupe://prod/user/${"%20".repeat(size / 3)}`,
  "many cut escapes": (size) => `troupe://prod/user/${"%4".repeat(size / 2)}`,
  "many steps up": (size) => `troupe://prod/user${"/..".repeat(size / 3)}`,
  "up and down": (size) => `troupe://prod/user${"/a/..".repeat(size / 5)}`,
  "long scheme": (size) => `${"t".repeat(size)}://prod/user/a`,
  "no scheme": (size) => "t".repeat(size),
  "long system": (size) => `troupe://${"p".repeat(size)}/user/a`,
  "long host": (size) => `troupe.tcp://prod@${"a.".repeat(size / 2)}a:1/user/a`,
  "long label": (size) => `troupe.tcp://prod@${"a-".repeat(size / 2)}a:1/user/a`,
  "long IPv6": (size) => `troupe.tcp://prod@[${"1:".repeat(size / 2)}1]:1/user/a`,
  "IPv6 gaps": (size) => `troupe.tcp://prod@[${"::".repeat(size / 2)}]:1/user/a`,
  "open bracket": (size) => `troupe.tcp://prod@[${"1".repeat(size)}/user/a`,
  "many colons": (size) => `troupe.tcp://prod@host${":".repeat(size)}1/user/a`,
  "many at signs": (size) => `troupe.tcp://prod${"@".repeat(size)}host:1/user/a`,
  "long port": (size) => `troupe.tcp://prod@host:${"1".repeat(size)}/user/a`,
  "port of zeros": (size) => `troupe.tcp://prod@host:${"0".repeat(size)}1/user/a`,
  "long uid": (size) => `troupe://prod/user/a#${"1".repeat(size)}`,
  "many hashes": (size) => `troupe://prod/user/a${"#".repeat(size)}1`,
  "not ASCII": (size) => `troupe://prod/user/${"é".repeat(size)}`,
  "lone surrogates": (size) => `troupe://prod/user/${"\ud800".repeat(size)}`,
}

/**
 * How much more a character costs in a text ten times as long, for the worst of all hostile texts. Parsing in
 * linear time gives about 1, in quadratic time 10.
 */
export const pathParseHostile: FreeRow = {
  kind: "free",
  name: "path-parse-hostile",
  unit: "x per 10x",
  bar: { of: "value", better: "lower", at: 2 },
  measure(progress) {
    const worst = { family: "", growth: 0 }
    for (const [family, make] of Object.entries(families)) {
      const costs = sizes.map((size) => {
        progress(`${family}, ${size} characters`)
        return nsPerCharacter(make(size))
      })
      const growth = (costs[2] ?? 0) / (costs[1] ?? 0)
      if (!(growth > worst.growth)) continue
      worst.family = `${family}: ${costs.map((ns) => ns.toFixed(1)).join(", ")} ns per character`
      worst.growth = growth
    }
    process.stderr.write(`path-parse-hostile: the worst is ${worst.family}\n`)
    return { value: worst.growth }
  },
}

function nsPerCharacter(text: string): number {
  let times = 1
  let spentMs = parseMs(text, times)
  while (spentMs < sampleMs) {
    times *= 2
    spentMs = parseMs(text, times)
  }
  const repetitions = spentMs < 10 * sampleMs ? 9 : 3
  const elapsed = Array.from({ length: repetitions }, () => parseMs(text, times))
  return (median(elapsed) * 1e6) / (times * text.length)
}

function parseMs(text: string, times: number): number {
  const startedAt = performance.now()
  for (let done = 0; done < times; done += 1) keep(ActorPath.tryParse(text))
  return performance.now() - startedAt
}
