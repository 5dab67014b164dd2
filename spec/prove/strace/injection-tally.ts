/** What a run of injections counts, and when it says too little to pass. */
import type { Finding } from '../../support/dying-servers/client-findings.ts'

export class InjectionTally {
  cases = 0
  /** Calls that really failed or were killed in. */
  injections = 0
  /** Cases whose call was not made at any attempt. */
  missed = 0
  acknowledged = 0
  /** Reads while a sync was delayed. */
  looks = 0
  readonly #calls = new Map<string, number>()
  readonly #places = new Map<string, number>()
  readonly #ends = new Map<string, number>()

  /** @param place what the call was made on: `journal`, `volumes`, … */
  injected(call: string, place: string): void {
    this.injections += 1
    add(this.#calls, call)
    add(this.#places, place)
  }

  /** Notes that a case was tried, so that a call into which nothing was ever injected shows. */
  tried(call: string): void {
    this.cases += 1
    this.#calls.set(call, this.#calls.get(call) ?? 0)
  }

  /** @param how `exit 20`, `SIGKILL`, `went on` */
  ended(how: string): void {
    add(this.#ends, how)
  }

  /** Where the faults came, and what the server did then. */
  get details(): string {
    return [this.#calls, this.#places, this.#ends].map(listed).join('; ')
  }

  /** `412 injections at 10 system calls, 0 lost, 0 wrong`. Passes when most cases, and every call, were really hit. */
  verdict(findings: readonly Finding[]): { summary: string; passed: boolean } {
    const lost = findings.filter(({ kind }) => kind === 'lost').length
    const idle = [...this.#calls].filter(([, count]) => count === 0).map(([call]) => call)
    const parts = [
      `${this.injections} injections at ${this.#calls.size - idle.length} system calls (${this.missed} not reached)`,
      ...idle.map((call) => `none into ${call}`),
      `${this.looks} looks during delayed syncs`,
      `${this.acknowledged} acknowledged`,
      `${lost} lost`,
      `${findings.length - lost} wrong`,
    ]
    const isHit = this.injections > 0 && idle.length === 0 && this.missed * 4 <= this.cases
    const passed = findings.length === 0 && isHit && this.looks > 0 && this.acknowledged > 0
    return { summary: parts.join(', '), passed }
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
