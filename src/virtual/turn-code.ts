import { UnknownMethodError } from "../errors/actor-call-errors.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { isInstance } from "../errors/thrown.js"
import type { ActorMethod } from "./actor-type.js"
import { fencedError } from "./fenced-error.js"
import { validateInput } from "./input-check.js"
import type { Admission } from "./recollection.js"
import type { Turn } from "./turn.js"
import type { TurnOwner } from "./turn-owner.js"
import { adoptThenable, Failure } from "./turn-result.js"

/**
 * Runs the code of a turn: its method, or the task instead of it. Returns what it gave, a `Failure` if it
 * threw, or a promise of either. A turn of a `once` method is admitted first: it may have been applied
 * before.
 */
export function runTurn(owner: TurnOwner, turn: Turn, task: Task | undefined): unknown {
  if (turn.method?.once !== undefined) return runOnce(owner, turn)
  const failure = owner.durable === undefined ? undefined : plainTurnBegins(owner, turn)
  if (failure !== undefined) return failure
  return owner.type.mayOverlap ? runInContext(owner, turn, task) : run(owner, turn, task)
}

/** What a turn runs instead of a method. */
interface Task {
  run(): unknown
}

function plainTurnBegins({ durable }: TurnOwner, { kind }: Turn): Failure | undefined {
  try {
    if (kind !== "reader") durable?.plainTurnBegins(kind === "writer")
    return undefined
  } catch (error) {
    return new Failure(error)
  }
}

function runOnce(owner: TurnOwner, turn: Turn): unknown {
  const admission = owner.durableTurns.admit(turn)
  if (!(admission instanceof Promise)) return admitted(owner, turn, admission)
  return admission.then((one) => {
    const { tenure } = owner
    if (tenure.endedBecause === undefined) return admitted(owner, turn, one)
    return new Failure(fencedError(tenure, "not-delivered"), false)
  })
}

function admitted(owner: TurnOwner, turn: Turn, admission: Admission): unknown {
  if (admission.kind === "run") {
    const { task } = admission
    return owner.type.mayOverlap ? runInContext(owner, turn, task) : run(owner, turn, task)
  }
  turn.isAnswered = true
  return admission.given
}

function runInContext(owner: TurnOwner, turn: Turn, task: Task | undefined): unknown {
  try {
    return owner.home.context.run(turn, () => run(owner, turn, task))
  } catch (error) {
    return new Failure(error)
  }
}

function run(owner: TurnOwner, turn: Turn, task: Task | undefined): unknown {
  try {
    if (task !== undefined) return adoptThenable(task.run())
    const { run, input } = turn.method as ActorMethod
    if (input !== undefined) return runChecked(owner, turn)
    const given = run.apply(owner.instance, turn.invocation.args as unknown[])
    return typeof given === "object" || typeof given === "function" ? adoptThenable(given) : given
  } catch (error) {
    return new Failure(error)
  }
}

function runChecked({ type, tenure, instance }: TurnOwner, turn: Turn): Promise<unknown> {
  const method = turn.method as ActorMethod
  return validateInput(type.name, method, turn.invocation.args).then(
    (valid) => {
      if (tenure.endedBecause === undefined) return method.run.apply(instance, valid)
      return new Failure(fencedError(tenure, "not-delivered"), false)
    },
    (error: unknown) => new Failure(error, !isInstance(error, InvalidMessageError)),
  )
}

/** A message could be applied twice. Its sender tries again: it may be ahead in a deployment. */
export function notOnce(type: string, method: string): UnknownMethodError {
  return new UnknownMethodError(type, method, `${type}.${method} must be once to be called with an operation`)
}
