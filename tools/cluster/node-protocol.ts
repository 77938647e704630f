/** What a node in a process of its own and the process that started it tell each other. */

/** The functions that the other process can call, by name. Arguments and results go through JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each function has parameters of its own
export type Commands = Readonly<Record<string, (...args: any[]) => unknown>>

export interface Call {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

export type Report<Event> =
  | { readonly kind: "up" }
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly problem: string }
