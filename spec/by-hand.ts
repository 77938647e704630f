import { explore, told } from "./explorer/explore.js"
import type { Model } from "./explorer/model.js"
import { registry } from "./registry/registry.js"
import type { Setting as ProtocolSetting } from "./registry/setting.js"
import * as protocol from "./registry/settings.js"
import { registryCode } from "./registry-code/registry-code.js"
import type { Setting as CodeSetting } from "./registry-code/setting.js"
import * as code from "./registry-code/settings.js"

/**
 * Explores the settings whose names contain the argument, the large ones if there is none, and prints what it saw:
 * `npx tsc -p spec/tsconfig.json && node build/spec/by-hand.js "late saves"`. Those of the code begin with `code: `.
 */
const asked = process.argv[2]
const large = [...protocol.LARGE_SETTINGS.map(ofProtocol), ...code.LARGE_SETTINGS.map(ofCode)]
const small = [...protocol.SETTINGS.map(ofProtocol), ...code.SETTINGS.map(ofCode)]
const chosen = asked === undefined ? large : [...small, ...large].filter(({ name }) => name.includes(asked))
for (const { name, explored } of chosen) {
  const startedMs = performance.now()
  const { distinct, generated, depth, evaluated, broken } = explored()
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
  console.log(
    `${name}: ${distinct} states, ${generated} steps, depth ${depth}, ${seconds} s, ${megabytes} MB`,
  )
  console.log(`  ${JSON.stringify(evaluated)}`)
  if (broken !== undefined) console.log(broken)
}

function ofProtocol(setting: ProtocolSetting): Job {
  return job(setting.name, () => registry(setting))
}

function ofCode(setting: CodeSetting): Job {
  return job(`code: ${setting.name}`, () => registryCode(setting))
}

interface Job {
  readonly name: string
  explored(): Pick<ReturnType<typeof explore>, "distinct" | "generated" | "depth" | "evaluated"> & {
    readonly broken: string | undefined
  }
}

function job<S>(name: string, modelOf: () => Model<S>): Job {
  return {
    name,
    explored() {
      const model = modelOf()
      const { violation, ...counts } = explore(model, { maxStates: 20_000_000 })
      return { ...counts, broken: violation === undefined ? undefined : told(violation, model.tell) }
    },
  }
}
