let sink: unknown

/** Takes what an operation made, so that no compiler can see that nobody wants it. */
export function keep(value: unknown): void {
  sink = value
}

export function lastKept(): unknown {
  return sink
}
