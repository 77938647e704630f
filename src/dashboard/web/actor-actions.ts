import { h, put } from "./element.js"
import { act } from "./state.js"

/**
 * What an operator may do with an actor, if the program allows it. Each action is tried first, which changes
 * nothing and says what it would do; only then there is a button that does it.
 */
export class ActorActions {
  readonly element = h("section", { class: "card actions", hidden: true })
  readonly #method = h("input", {
    placeholder: "method",
    "aria-label": "Method",
    autocomplete: "off",
    spellcheck: "false",
  })
  readonly #args = h("input", {
    placeholder: "arguments as JSON, as in [1, true]",
    "aria-label": "Arguments",
    autocomplete: "off",
    spellcheck: "false",
  })
  readonly #outcome = h("div", { class: "outcome", role: "status", "aria-live": "polite" })
  readonly #done: () => void
  #actor: { readonly type: string; readonly key: string } | undefined
  #isAllowed = false

  /** `done` is called after something was done. */
  constructor(done: () => void) {
    this.#done = done
    const call = (event: Event) => {
      event.preventDefault()
      void this.#call()
    }
    put(
      this.element,
      h("header", {}, h("h2", {}, "Actions")),
      h("form", { class: "find", submit: call }, this.#method, this.#args, h("button", {}, "Try a call")),
      h(
        "div",
        { class: "chips" },
        ...(["deactivate", "destroy"] as const).map((action) =>
          h("button", { type: "button", click: () => void this.#try({ action }) }, `Try to ${action}`),
        ),
      ),
      this.#outcome,
    )
  }

  allow(isAllowed: boolean): void {
    this.#isAllowed = isAllowed
    this.element.hidden = !isAllowed || this.#actor === undefined
  }

  about(
    actor: { readonly type: string; readonly key: string; readonly isRunning: boolean } | undefined,
  ): void {
    if (actor?.type !== this.#actor?.type || actor?.key !== this.#actor?.key) put(this.#outcome)
    this.#actor = actor
    this.allow(this.#isAllowed)
  }

  async #call(): Promise<void> {
    try {
      const args: unknown = JSON.parse(this.#args.value.trim() || "[]")
      await this.#try({
        action: "call",
        method: this.#method.value.trim(),
        args: Array.isArray(args) ? args : [args],
      })
    } catch (error) {
      put(this.#outcome, h("p", { class: "bad" }, `the arguments are no JSON: ${(error as Error).message}`))
    }
  }

  async #try(action: object): Promise<void> {
    const { type, key } = this.#actor ?? {}
    const wanted = { ...action, type, key }
    const { isDone, text } = await run({ ...wanted, isDryRun: true })
    const doIt = async () => {
      const result = await run({ ...wanted, isDryRun: false })
      put(
        this.#outcome,
        h("p", { class: result.isDone ? "good" : "bad" }, result.text),
        result.answer !== undefined && h("pre", { tabindex: 0 }, result.answer),
      )
      this.#done()
    }
    put(
      this.#outcome,
      h("p", { class: isDone ? "" : "bad" }, text),
      isDone && h("button", { type: "button", class: "danger", click: () => void doIt() }, "Do it"),
    )
  }
}

async function run(action: object) {
  try {
    return await act(action)
  } catch (error) {
    return { isDone: false, text: (error as Error).message, answer: undefined }
  }
}
