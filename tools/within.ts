/** Settles as `done` does, and rejects if that takes longer than `ms`. `until` says what was waited for. */
export async function within<T>(ms: number, until: string | (() => string), done: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited ${ms} ms in vain until ${typeof until === "string" ? until : until()}`))
    }, ms)
  })
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}
