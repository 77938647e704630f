/** What an actor says, and which activation of it. */
export interface Answer<Output> {
  readonly output: Output
  readonly generation: number
}
