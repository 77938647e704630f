import type { State } from "./state.js"

/** One of the pages. It is made once and then shown again and again, so that what one has typed remains. */
export interface Page {
  readonly name: string
  readonly title: string
  readonly element: HTMLElement
  /** Called with every new view while the page is shown, and when it comes into sight. */
  show(state: State): void
  /** The rest of the address, after the page's name. */
  open?(rest: readonly string[]): void
  /** Where a search is typed in. */
  readonly search?: HTMLInputElement
}
