import { outsideWorlds } from "./current-world.js"
import type { Callable } from "./patches.js"
import { framesIn } from "./stack-frames.js"

/**
 * Where the user's code comes in when something fails.
 *
 * The stack of an error often has no frame of the user: a request to the store times out in a timer, and the
 * promise of `startSystem` that it rejects is all that the user's code has. The functions that users call
 * therefore capture their caller, and link it to the error with which they fail. A captured stack is turned
 * into text only when a failure needs it, because that is expensive.
 */
export interface CapturedStack {
  readonly stack?: string
}

/** Captures the stack above `callee`, which the user's code has called. */
export function captureCaller(callee: Callable): CapturedStack {
  const captured: CapturedStack = {}
  Error.captureStackTrace(captured, callee)
  return captured
}

/** Links an error to the call that fails with it. Of several calls, the innermost counts. */
export function linkToCall(error: unknown, call: CapturedStack): void {
  if (error instanceof Error && !calls.has(error)) calls.set(error, call)
}

const calls = new WeakMap<Error, CapturedStack>()

/**
 * Returns the file and the line of the user's frame of an error: in its stack, in the stacks of its causes,
 * or in that of the call that failed with it.
 */
export function userFrameOf(error: unknown): string | undefined {
  const causes = causesOf(error)
  return firstUserFrame([...causes, ...causes.flatMap((cause) => calls.get(cause) ?? [])])
}

/** Returns the file and the line of the first frame of the user in the first of these stacks that has one. */
export function firstUserFrame(captured: readonly CapturedStack[]): string | undefined {
  return outsideWorlds(() => {
    for (const { stack } of captured) {
      const frame = userFrameIn(stack ?? "")
      if (frame !== undefined) return frame
    }
    return undefined
  })
}

/** Skips the frames of Node and of Troupe, and those of installed packages unless there are no others. */
function userFrameIn(stack: string): string | undefined {
  const outside = framesIn(stack).filter(({ file }) => !file.startsWith("node:") && !isOwn(file))
  const frame = outside.find(({ file }) => !/[\\/]node_modules[\\/]/.test(file)) ?? outside[0]
  return frame && `${frame.file}:${frame.line}`
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let one = error; one instanceof Error && !causes.includes(one); one = one.cause) causes.push(one)
  return causes
}

function isOwn(file: string): boolean {
  ownFolder ??= folderOfTroupe(new Error())
  return ownFolder !== "" && file.startsWith(ownFolder)
}

/** The folder of Troupe's modules; empty if they are part of a bundle, whose file has the user's code too. */
function folderOfTroupe({ stack = "" }: Error): string {
  const file = framesIn(stack)[0]?.file ?? ""
  return /^(.*[\\/])sim[\\/]ambient[\\/]user-frame\.[jt]s$/.exec(file)?.[1] ?? ""
}

let ownFolder: string | undefined
