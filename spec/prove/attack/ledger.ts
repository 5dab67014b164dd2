/** What an attack tried and what came of it. Every fault is counted; the first ones are said in full. */

/** `let in`: somebody got what is not theirs. `leaked`: a secret came out. `wrong`: any other broken promise. */
export type FaultKind = 'let in' | 'wrong' | 'leaked'

const SAID_MAXIMUM = 20
const REQUEST_CHARACTERS_MAXIMUM = 1200

export class Ledger {
  requests = 0
  /** Connections of the cases that are about connections. */
  connections = 0
  readonly #say: (line: string) => void
  readonly #faults = new Map<FaultKind, number>()
  readonly #tried = new Map<string, number>()
  #said = 0

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  count(kind: FaultKind): number {
    return this.#faults.get(kind) ?? 0
  }

  get faults(): number {
    return this.count('let in') + this.count('wrong') + this.count('leaked')
  }

  /** Notes that so many cases of an area were tried; an area that tried none is a fault of the proof itself. */
  tried(area: string, cases: number): void {
    this.#tried.set(area, (this.#tried.get(area) ?? 0) + cases)
    if (cases === 0) this.fault('wrong', area, 'tried nothing')
  }

  /** One line for each area. */
  areas(): string[] {
    return [...this.#tried].map(([area, cases]) => `${area}: ${cases.toLocaleString('en')}`)
  }

  /** @param request the bytes that were sent, one a character, so that they can be sent again */
  fault(kind: FaultKind, name: string, what: string, request?: string): void {
    this.#faults.set(kind, this.count(kind) + 1)
    this.#said += 1
    if (this.#said > SAID_MAXIMUM) return
    this.#say(`${kind}: ${name}: ${what}`)
    if (request === undefined) return
    const shown = JSON.stringify(request.slice(0, REQUEST_CHARACTERS_MAXIMUM))
    this.#say(`  sent${request.length > REQUEST_CHARACTERS_MAXIMUM ? ` (${request.length} bytes)` : ''}: ${shown}`)
  }
}
