import type { SeededRandom } from "../../src/sim/seeded-random.js"

/** Requests and frames of a seed, from callers who try everything. */
export class HostileInput {
  readonly #random: SeededRandom

  constructor(random: SeededRandom) {
    this.#random = random
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)] as T
  }

  /** Whether something happens that has this chance in a hundred. */
  happens(percent: number): boolean {
    return this.#random.below(100) < percent
  }

  get type(): string {
    return this.happens(60) ? "Room" : this.pick(NAMES)
  }

  get key(): string {
    return this.happens(60)
      ? `k${this.#random.below(10)}`
      : this.pick([...NAMES, "", "x".repeat(300), "\u0000"])
  }

  get method(): string {
    return this.happens(50) ? this.pick(["say", "echo", "hidden", "nothing"]) : this.pick(NAMES)
  }

  get args(): string {
    const text = this.pick(this.happens(60) ? HONEST_ARGS : ARGS)
    return this.happens(90) ? text : this.#mutated(text)
  }

  get operation(): string | undefined {
    return this.happens(80) ? undefined : this.pick([...NAMES, "", "~0000000000000000.1", "x".repeat(1_000)])
  }

  /** The path of a request. */
  get path(): string {
    const parts = [this.type, this.key, this.method].map((part) =>
      this.happens(80) ? encodeURIComponent(part) : part.replace(/[^!-~]/g, ""),
    )
    const path = `/actors/${parts.join("/")}`
    return this.happens(95) ? path : this.#mutated(path).replace(/[^!-~]/g, "%")
  }

  /** Headers; mostly those of a caller who is known. */
  get headers(): Record<string, string> {
    const { operation } = this
    return {
      ...(this.happens(80)
        ? { authorization: "Bearer a" }
        : this.happens(50)
          ? { authorization: this.pick(NAMES) }
          : {}),
      ...(this.happens(90) ? { "content-type": "application/json" } : { "content-type": "text/plain" }),
      ...(this.happens(5) ? { origin: this.pick(["https://evil.example", "null", "x"]) } : {}),
      ...(operation === undefined ? {} : { "idempotency-key": operation.replace(/[^ -~]/g, "?") }),
    }
  }

  get verb(): string {
    return this.happens(95) ? "POST" : this.pick(["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
  }

  /** A frame of a socket, as text or as bytes. */
  get frame(): string | Buffer {
    const { operation } = this
    const id = this.happens(99) ? this.#random.below(1_000_000_000) + 1 : this.pick([0, -1, 1.5, 1e300])
    const [type, key, method] = [this.type, this.key, this.method].map((part) => JSON.stringify(part))
    // Most frames are such that they do not end the socket, so that the next ones are looked at.
    const args = this.happens(98)
      ? this.pick(ARGS.filter((one) => one.startsWith("[") && one !== "[NaN]"))
      : this.args
    const named = operation === undefined ? "" : `,"operation":${JSON.stringify(operation)}`
    const text = `{"kind":"call","id":${id},"type":${type},"key":${key},"method":${method},"args":${args}${named}}`
    if (this.happens(98)) return text
    if (this.happens(20)) return Buffer.from(text)
    return this.happens(30) ? this.pick(FRAMES) : this.#mutated(text)
  }

  #mutated(text: string): string {
    const at = this.#random.below(text.length + 1)
    const cut = this.#random.below(4)
    return (
      text.slice(0, at) +
      this.pick(["", "[", "}", '"', "\\", "0", ",", "__proto__", "%"]) +
      text.slice(at + cut)
    )
  }
}

/** Names that are somewhere, though nobody has exposed them. */
const NAMES = [
  ...[
    "constructor",
    "__proto__",
    "prototype",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "then",
    "toJSON",
    "apply",
  ],
  ...["save", "deactivate", "state", "key", "id", "timers", "onActivate", "initialState", "actor", "caller"],
  ...[
    "onlyHere",
    "_private",
    "~wake",
    "~remind",
    "~expire",
    "..",
    ".",
    "%2e%2e",
    "Room/x",
    "a b",
    "say ",
    "Say",
  ],
]

const HONEST_ARGS = ["[]", '["x"]', "[1,2,3]", '[{"a":[null,true,1.5]}]', '[{"$":"Map","v":[[1,2]]}]']

const ARGS = [
  ...[
    "[]",
    '["x"]',
    "[1,2,3]",
    '[{"a":[null,true,1.5]}]',
    '[{"$":"Date","v":0}]',
    '[{"$":"Map","v":[[1,2]]}]',
  ],
  ...[
    '[{"$":"ref","v":"troupe://test/user/x"}]',
    '[{"$":"type","of":"Refused","v":{}}]',
    '[{"$":"Map","v":[1]}]',
  ],
  ...[
    '[{"$":"Error","of":"FencedError","v":[{},{}]}]',
    '[{"__proto__":{"polluted":1}}]',
    '[{"$":"bigint","v":"zz"}]',
  ],
  ...[
    '[{"constructor":{"prototype":{"polluted":1}}}]',
    "{}",
    "null",
    "1",
    "[NaN]",
    `${"[".repeat(200)}${"]".repeat(200)}`,
  ],
  ...[
    `[${"1,".repeat(5_000)}1]`,
    `["${"x".repeat(20_000)}"]`,
    '[{"$":"Uint8Array","v":"*"}]',
    '[{"$":"Object","v":3}]',
  ],
]

const FRAMES = [
  ...[
    "",
    "null",
    "[]",
    "1",
    '{"kind":"hello"}',
    '{"kind":"hello","version":1,"token":"b"}',
    '{"kind":"welcome"}',
  ],
  ...[
    '{"kind":"hello","version":1,"token":1}',
    '{"kind":"ping"}',
    '{"kind":"constructor"}',
    '{"__proto__":{"kind":"ping"}}',
  ],
]
