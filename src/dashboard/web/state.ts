import type {
  ActionResult,
  ActorView,
  DashboardView,
  EventView,
  Point,
  TracesView,
  TroubleView,
} from "../view.js"

/** What the page knows: the last view of the server, with the lists of all views before it. */
export interface State extends Omit<DashboardView, "points" | "events" | "troubles"> {
  readonly points: readonly Point[]
  /** The latest comes first, as in `troubles`. */
  readonly events: readonly EventView[]
  readonly troubles: readonly TroubleView[]
}

/**
 * Asks the server for what is new, again and again: an answer comes as soon as there is something. While the
 * page is hidden it asks nothing.
 */
export class Poll {
  #state: State | undefined
  readonly #changed: (state: State | undefined, problem: string | undefined) => void

  constructor(changed: (state: State | undefined, problem: string | undefined) => void) {
    this.#changed = changed
  }

  get state(): State | undefined {
    return this.#state
  }

  async run(): Promise<never> {
    for (;;) {
      if (document.hidden) await shown()
      try {
        const { run = "", serial = 0 } = this.#state ?? {}
        const view = await get<DashboardView>(`api/view?run=${run}&after=${serial}`)
        this.#state = merged(this.#state, view)
        this.#changed(this.#state, undefined)
      } catch (error) {
        this.#changed(this.#state, (error as Error).message)
        await new Promise((resolve) => setTimeout(resolve, 1_000))
      }
    }
  }
}

function merged(before: State | undefined, view: DashboardView): State {
  const isAnew = before?.run !== view.run
  const { points = [], events = [], troubles = [] } = isAnew ? {} : before
  return {
    ...view,
    points: [...points, ...view.points].slice(-MOST_POINTS),
    events: [...[...view.events].reverse(), ...events].slice(0, MOST_LISTED),
    troubles: [...troubles, ...view.troubles].sort((a, b) => b.at - a.at).slice(0, MOST_LISTED),
  }
}

function shown(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return
      document.removeEventListener("visibilitychange", look)
      resolve()
    }
    document.addEventListener("visibilitychange", look)
  })
}

export function getTraces(): Promise<TracesView> {
  return get("api/traces")
}

export function getActor(type: string, key: string): Promise<ActorView> {
  return get(`api/actor?${new URLSearchParams({ type, key })}`)
}

export async function act(action: object): Promise<ActionResult> {
  const headers = { "content-type": "application/json", "x-troupe-dashboard": "1" }
  return read(await fetch("api/actions", { method: "POST", headers, body: JSON.stringify(action) }))
}

async function get<T>(path: string): Promise<T> {
  return read(await fetch(path, { headers: { accept: "application/json" } }))
}

async function read<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T
  const { detail } = (await response.json().catch(() => ({}))) as { detail?: string }
  throw new Error(detail ?? `the server answered ${response.status}`)
}

const MOST_POINTS = 300
const MOST_LISTED = 500
