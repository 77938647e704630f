import { ActorPath } from "../../src/address/actor-path.js"
import { keep } from "../keep.js"
import type { ThroughputRow } from "../row.js"
import { pathMix } from "./path-mix.js"

/**
 * Reading paths from text, against cutting the text at its separators without a look at what is between.
 *
 * The two loops are alike but apart: in a shared one, neither parser would be compiled into it.
 */
export const pathParse: ThroughputRow = {
  kind: "throughput",
  name: "path-parse",
  unit: "parses/s",
  ours: {
    setup: () => ({
      run(operations) {
        for (let done = 0; done < operations; done += 1) keep(ActorPath.parse(pathMix[done % 64] ?? ""))
      },
    }),
  },
  limit: {
    setup: () => ({
      run(operations) {
        for (let done = 0; done < operations; done += 1) keep(cut(pathMix[done % 64] ?? ""))
      },
    }),
  },
}

function cut(text: string) {
  const colon = text.indexOf("://")
  const hash = text.indexOf("#", colon)
  const end = hash === -1 ? text.length : hash
  let slash = text.indexOf("/", colon + 3)
  const scheme = text.slice(0, colon)
  const authority = text.slice(colon + 3, slash)
  const segments: string[] = []
  while (slash !== -1 && slash < end) {
    const next = text.indexOf("/", slash + 1)
    segments.push(text.slice(slash + 1, next === -1 ? end : next))
    slash = next
  }
  return { scheme, authority, segments, uid: hash === -1 ? undefined : Number(text.slice(hash + 1)) }
}
