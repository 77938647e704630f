import { messageOf } from "../errors/thrown.js"
import { ActorSystem } from "../system/actor-system.js"
import { shownState } from "../system/shown-state.js"
import { DashboardAction } from "./dashboard-action.js"
import type { ActionResult } from "./view.js"

/** Carries out what operators ask for, or says what it would do; either way it is published and logged. */
export class Actions {
  readonly #system: ActorSystem

  constructor(system: ActorSystem) {
    this.#system = system
  }

  /** Does not reject: what goes wrong is in the result. */
  async run(request: ActionRequest, who: string): Promise<ActionResult> {
    let result: ActionResult
    try {
      result = await this.#run(request)
    } catch (error) {
      result = { isDone: false, text: messageOf(error) }
    }
    const { action, type, key, method, isDryRun } = request
    const actor = `${type}/${key}`
    const { isDone, text } = result
    this.#system.events.publish(new DashboardAction({ action, actor, method, who, isDryRun, isDone, text }))
    ActorSystem.observersOf(this.#system).logger.log("warn", "an operator used the dashboard", {
      ...{ action, actor, method, who, isDryRun, isDone, outcome: text },
    })
    return result
  }

  #run(request: ActionRequest): Promise<ActionResult> {
    switch (request.action) {
      case "deactivate":
        return this.#deactivate(request)
      case "call":
        return this.#call(request)
      case "destroy":
        return this.#destroy(request)
    }
  }

  async #deactivate({ type, key, isDryRun }: ActionRequest): Promise<ActionResult> {
    const observers = ActorSystem.observersOf(this.#system)
    const node = await observers.everywhere.deactivate(observers.idOf(type, key), isDryRun)
    if (node === undefined) return { isDone: false, text: `${type}/${key} does not run anywhere` }
    if (!isDryRun) return { isDone: true, text: `${type}/${key} was deactivated on ${node}` }
    const { activation } = await this.#system.inspect(type, key)
    const waiting = activation?.waiting ?? 0
    const then = waiting === 0 ? "" : `; ${waiting} waiting messages would go to its next activation`
    const busy = activation?.isBusy === true ? ", once its turn has ended" : ""
    return { isDone: true, text: `would end ${type}/${key} on ${node}${busy}; nothing stored changes${then}` }
  }

  async #destroy({ type, key, isDryRun }: ActionRequest): Promise<ActionResult> {
    const { activation, stored } = await this.#system.inspect(type, key)
    if (activation === undefined && stored === undefined) {
      return { isDone: false, text: `there is no ${type}/${key}: it neither runs nor has a state` }
    }
    if (isDryRun) {
      const { bytes = 0, reminders = [], outgoing = [] } = stored ?? {}
      const what = `${bytes} bytes of state, ${reminders.length} reminders, ${outgoing.length} messages to deliver`
      return { isDone: true, text: `would destroy ${type}/${key} for good: ${what}` }
    }
    await this.#system.destroy(type, key)
    return { isDone: true, text: `${type}/${key} was destroyed` }
  }

  async #call({ type, key, method = "", args = [], isDryRun }: ActionRequest): Promise<ActionResult> {
    const hosted = ActorSystem.actorsOf(this.#system)?.host.types.get(type)
    if (hosted !== undefined && hosted.method(method) === undefined) throw hosted.unknownMethod(method)
    const handle: object = this.#system.actor(type, key)
    const run: unknown = Reflect.get(handle, method)
    if (typeof run !== "function") return { isDone: false, text: `${type}.${method} cannot be called` }
    if (isDryRun) {
      const { node, activation } = await this.#system.inspect(type, key)
      const where = activation === undefined ? "and start it, as it does not run" : `on ${node}`
      return { isDone: true, text: `would call ${method} of ${type}/${key} ${where}` }
    }
    const given: unknown = await Reflect.apply(run, handle, args)
    const { json, problem } = shownState(given)
    const answer = given === undefined ? "undefined" : (json ?? problem)
    return { isDone: true, text: `${type}/${key} has answered`, answer }
  }
}

interface ActionRequest {
  readonly action: "deactivate" | "call" | "destroy"
  readonly type: string
  readonly key: string
  readonly method?: string | undefined
  readonly args?: readonly unknown[] | undefined
  readonly isDryRun: boolean
}

/** Returns a sentence instead if the body of a request is no action. */
export function actionOf(body: unknown): ActionRequest | string {
  if (typeof body !== "object" || body === null) return "the body must be an object"
  const { action, type, key, method, args, isDryRun } = body as Readonly<Record<string, unknown>>
  if (action !== "deactivate" && action !== "call" && action !== "destroy") {
    return "action must be deactivate, call or destroy"
  }
  if (typeof type !== "string" || typeof key !== "string") return "type and key must be strings"
  if (typeof isDryRun !== "boolean") return "isDryRun must be true or false"
  if (action !== "call") return { action, type, key, isDryRun }
  if (typeof method !== "string") return "method must be a string"
  if (!Array.isArray(args)) return "args must be an array"
  return { action, type, key, method, args, isDryRun }
}
