import { randomUUID } from "node:crypto"
import { ActorIdError } from "../address/actor-id-error.js"
import { messageOf } from "../errors/thrown.js"
import type { ActorSystem } from "../system/actor-system.js"
import { Access } from "./access.js"
import { Actions, actionOf } from "./actions.js"
import { Assets } from "./assets.js"
import type { DashboardOptions } from "./options.js"
import { shownActor } from "./shown-actor.js"
import type { DashboardView } from "./view.js"
import type { Watcher } from "./watcher.js"

/**
 * Answers the requests of the dashboard, whatever server they come by.
 *
 * Who makes a request is found out before anything else, so that without a way in every path is answered
 * alike, files of the page included. Actions need a header that no form and no other site can send, and the
 * right origin, beside the cookie: a cookie alone is sent by the browser, not by the operator.
 */
export class Requests {
  readonly access = new Access()
  readonly #system: ActorSystem
  readonly #options: DashboardOptions
  readonly #watcher: Watcher
  readonly #actions: Actions
  readonly #assets = new Assets()
  readonly #path: string
  /** Names this run: serials begin anew with each. */
  readonly #run = randomUUID()

  constructor(system: ActorSystem, options: DashboardOptions, watcher: Watcher) {
    this.#system = system
    this.#options = options
    this.#watcher = watcher
    this.#actions = new Actions(system)
    const { path = "/" } = options
    this.#path = path.endsWith("/") ? path : `${path}/`
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#answer(request)
    } catch (error) {
      if (error instanceof ActorIdError) return problem(400, error.message)
      return problem(500, messageOf(error))
    }
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const token = url.searchParams.get("token")
    const { authenticate } = this.#options
    if (token !== null && authenticate === undefined && request.method === "GET")
      return this.#enter(token, url)
    const who = await this.#who(request)
    if (who === undefined) return problem(401, NO_WAY_IN)
    if (url.pathname === this.#path.slice(0, -1)) return redirect(this.#path)
    if (!url.pathname.startsWith(this.#path)) return problem(404, "there is no such page")
    const name = url.pathname.slice(this.#path.length)
    if (name === "api/actions") return this.#act(request, url, who)
    if (request.method !== "GET" && request.method !== "HEAD") return problem(405, "use GET")
    switch (name) {
      case "api/view":
        return this.#view(url)
      case "api/traces":
        return json(this.#watcher.trees.view)
      case "api/actor":
        return this.#actor(url)
    }
    const asset = this.#assets.get(name)
    if (asset === undefined) return problem(404, "there is no such page")
    return new Response(asset.body, { headers: { ...HEADERS, "content-type": asset.type } })
  }

  #enter(token: string, url: URL): Response {
    const session = this.access.exchange(token, Date.now())
    if (session === undefined) return problem(401, NO_WAY_IN)
    const secure = url.protocol === "https:" ? "; Secure" : ""
    const cookie = `${this.access.cookieName}=${session}; Path=${this.#path}; HttpOnly; SameSite=Strict${secure}`
    return redirect(this.#path, { "set-cookie": cookie })
  }

  async #who(request: Request): Promise<string | undefined> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) return (await authenticate(request))?.id
    return this.access.isIn(request.headers.get("cookie"), Date.now()) ? "token" : undefined
  }

  async #view({ searchParams }: URL): Promise<Response> {
    const isSameRun = searchParams.get("run") === this.#run
    const after = isSameRun ? Number(searchParams.get("after") ?? 0) : 0
    await this.#watcher.look(after)
    const view = this.#watcher.history.view(after)
    if (view === undefined) return problem(503, "the dashboard has no snapshot yet")
    const { actions = false, showState = false } = this.#options
    return json({
      ...view,
      run: this.#run,
      hasActions: actions,
      showsState: showState,
    } satisfies DashboardView)
  }

  async #actor({ searchParams }: URL): Promise<Response> {
    const { showState = false, redact } = this.#options
    const [type, key] = [searchParams.get("type") ?? "", searchParams.get("key") ?? ""]
    const inspection = await this.#system.inspect(type, key, { state: showState })
    return json(shownActor(inspection, this.#watcher.trees, redact))
  }

  async #act(request: Request, url: URL, who: string): Promise<Response> {
    if (request.method !== "POST") return problem(405, "use POST")
    if (this.#options.actions !== true) return problem(403, "actions are off; set actions to allow them")
    const origin = request.headers.get("origin")
    if (request.headers.get(ACTION_HEADER) === null || (origin !== null && origin !== url.origin)) {
      return problem(403, `actions need the header ${ACTION_HEADER} and come from the dashboard's own page`)
    }
    const body = await request.text()
    if (body.length > MOST_BODY) return problem(413, `the body must have at most ${MOST_BODY} characters`)
    let action: ReturnType<typeof actionOf>
    try {
      action = actionOf(JSON.parse(body))
    } catch {
      return problem(400, "the body must be JSON")
    }
    return typeof action === "string" ? problem(400, action) : json(await this.#actions.run(action, who))
  }
}

function json(body: unknown): Response {
  return new Response(JSON.stringify(body), { headers: { ...HEADERS, "content-type": "application/json" } })
}

function problem(status: number, detail: string): Response {
  const headers = { ...HEADERS, "content-type": "application/problem+json" }
  return new Response(JSON.stringify({ status, detail }), { status, headers })
}

function redirect(to: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 303, headers: { ...HEADERS, ...headers, location: to } })
}

const NO_WAY_IN = "open the dashboard by the link that the program printed; a link is good for one visit"

/** The page uses nothing of other sites, and other sites cannot show it. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
}

const ACTION_HEADER = "x-troupe-dashboard"
const MOST_BODY = 65_536
