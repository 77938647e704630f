import { Actor } from "../src/index.js"
import type { RegisterInput, RegisterOutput, RegisterValue } from "../src/sim/index.js"
import type { Answer } from "./answer.js"

/** A value that is durable before it is acknowledged. */
export class Register extends Actor<{ value: RegisterValue }> {
  static readonly type = "Register"
  static readonly methods = { read: { readOnly: true } }

  protected override initialState() {
    return { value: null }
  }

  read(): Answer<RegisterOutput> {
    return this.#answer({ kind: "value", value: this.state.value })
  }

  async change(input: RegisterInput): Promise<Answer<RegisterOutput>> {
    if (input.kind === "read") return this.read()
    if (input.kind === "compare-and-set" && this.state.value !== input.expected) {
      return this.#answer({ kind: "kept" })
    }
    this.state.value = input.value
    await this.save()
    return this.#answer({ kind: input.kind === "write" ? "written" : "swapped" })
  }

  #answer(output: RegisterOutput): Answer<RegisterOutput> {
    return { output, generation: this.fencingToken }
  }
}
