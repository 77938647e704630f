import type { Operation } from "./operation.js"
import { operationOf, operationText } from "./operation.js"
import type { OperationLedger } from "./operation-ledger.js"

/** The operation of a call that was made on this node: numbered by the runtime, or named. */
export class OutgoingOperation {
  readonly #ledger: OperationLedger
  readonly #key: string
  readonly #named: Operation | undefined
  #number = 0
  #isRepeat = false
  #wasAttempted = false

  /** `named`: the operation that the call has, if it is not numbered. */
  constructor(ledger: OperationLedger, key: string, named?: Operation) {
    this.#ledger = ledger
    this.#key = key
    this.#named = named
    this.#isRepeat = named?.isRepeat ?? false
  }

  /** An attempt at an operation that its caller knows the text of. */
  static continued(ledger: OperationLedger, key: string, text: string): OutgoingOperation {
    return new OutgoingOperation(ledger, key, operationOf(text))
  }

  /** The call is the `number`th of this process. */
  made(number: number): void {
    this.#number = number
    if (this.#named === undefined) this.#ledger.opened(this.#key, number)
  }

  /** An attempt was made, and its outcome is unknown. */
  attempted(): void {
    this.#isRepeat = true
    this.#wasAttempted = true
  }

  /** Whether an attempt of this call may have been applied. */
  get wasAttempted(): boolean {
    return this.#wasAttempted
  }

  /** The operation, as the next attempt has it. */
  get value(): Operation {
    const named = this.#named
    if (named === undefined) return this.#ledger.operation(this.#key, this.#number, this.#isRepeat)
    return named.isRepeat === this.#isRepeat ? named : { ...named, isRepeat: this.#isRepeat }
  }

  get text(): string {
    return operationText(this.value)
  }

  /** The call has ended; `isUnknown`: the operation may have been applied, or not. */
  ended(isUnknown: boolean): void {
    if (this.#named !== undefined) return
    if (isUnknown) this.#ledger.stayedUnknown(this.#key, this.#number)
    else this.#ledger.closed(this.#key, this.#number)
  }
}
