/**
 * Knows who has which address from what callers were told, in one order. A user has an address for certain from the
 * moment in which it was told so, to the moment in which it begins to give it up; two users must never have the same
 * one for certain. A user that is refused must have somebody to blame: another one that may have had the address
 * while it asked.
 */
export class AddressWitness {
  granted = 0
  refused = 0
  givenUp = 0
  readonly problems: string[] = []
  /** By address: who has it for certain. */
  readonly #owners = new Map<string, string>()
  /** By user: the address that it has. */
  readonly #addresses = new Map<string, string>()
  /** By address: who may have it, as they have asked and not certainly given it up or been refused. */
  readonly #suspects = new Map<string, Set<string>>()
  /** By address: the requests that are open. */
  readonly #open = new Map<string, Set<Request>>()
  readonly #met = new Set<string>()

  get judgement(): Judgement {
    const { problems, granted, refused, givenUp } = this
    return { problems: problems.slice(0, 20), granted, refused, givenUp }
  }

  asks(user: string, email: string): Asked {
    this.#met.add(user)
    const suspects = this.#suspects.get(email) ?? new Set()
    const open = this.#open.get(email) ?? new Set()
    this.#suspects.set(email, suspects)
    this.#open.set(email, open)
    const request: Request = { user, blamed: suspects.size > 0 }
    for (const other of open) other.blamed = true
    suspects.add(user)
    open.add(request)
    return {
      granted: () => {
        open.delete(request)
        this.granted += 1
        const owner = this.#owners.get(email)
        if (owner !== undefined && owner !== user) {
          this.problem(`${email} was given to ${user}, while ${owner} had it`)
        }
        this.#owners.set(email, user)
        this.#addresses.set(user, email)
      },
      refused: () => {
        open.delete(request)
        suspects.delete(user)
        this.refused += 1
        if (!request.blamed) this.problem(`${email} was refused to ${user}, and nobody can have had it`)
      },
    }
  }

  leaves(user: string): void {
    const email = this.#addresses.get(user)
    if (email !== undefined) this.#owners.delete(email)
  }

  hasLeft(user: string): void {
    const email = this.#addresses.get(user)
    if (email === undefined) return
    this.givenUp += 1
    this.#addresses.delete(user)
    this.#suspects.get(email)?.delete(user)
  }

  hasMet(user: string): boolean {
    return this.#met.has(user)
  }

  owners(): Iterable<readonly [email: string, user: string]> {
    return this.#owners
  }

  /** The addresses that nobody can have. */
  *free(): Generator<string> {
    for (const [email, suspects] of this.#suspects) if (suspects.size === 0) yield email
  }

  problem(text: string): void {
    this.problems.push(text)
  }
}

interface Request {
  readonly user: string
  /** Whether somebody else may have had the address while the request was open. */
  blamed: boolean
}

export interface Asked {
  granted(): void
  refused(): void
}

export interface Judgement {
  /** The first ones. */
  readonly problems: readonly string[]
  readonly granted: number
  readonly refused: number
  readonly givenUp: number
}
