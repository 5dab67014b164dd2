/** What Object Lock must hold and let go, told by its rules and not by the code: one bucket, a clock that can be set. */

export interface ModelRetention {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until: number
}

export interface ModelLocked {
  readonly id: string
  /** Undefined for a delete marker. */
  readonly body: string | undefined
  retention: ModelRetention | undefined
  hold: boolean | undefined
}

/** How a request must end: done, or the code of its refusal. */
export type Verdict =
  | 'done'
  | 'AccessDenied'
  | 'ServiceUnavailable'
  | 'NoSuchKey'
  | 'NoSuchVersion'
  | 'MethodNotAllowed'

const DAY = 24 * 60 * 60 * 1000

export class LockModel {
  /** What the host's clock says. */
  now: number
  /** The latest time that the journal has seen. */
  high: number
  defaultRetention: { readonly mode: ModelRetention['mode']; readonly days: number } | undefined
  readonly #tolerance: number
  readonly #keys = new Map<string, ModelLocked[]>()

  constructor(now: number, toleranceMilliseconds: number) {
    this.now = now
    this.high = now
    this.#tolerance = toleranceMilliseconds
  }

  /** The time by which retention is judged: it never goes back. */
  get time(): number {
    return Math.max(this.now, this.high)
  }

  get #isBehind(): boolean {
    return this.now < this.high - this.#tolerance
  }

  /** Newest first. */
  versions(key: string): readonly ModelLocked[] {
    return this.#keys.get(key) ?? []
  }

  get all(): readonly { readonly key: string; readonly version: ModelLocked }[] {
    return [...this.#keys].flatMap(([key, versions]) => versions.map((version) => ({ key, version })))
  }

  write(key: string, id: string, body: string | undefined, lock: Pick<ModelLocked, 'retention' | 'hold'>): void {
    const standard = this.defaultRetention
    const filled = standard && { mode: standard.mode, until: this.time + standard.days * DAY }
    const retention = body === undefined ? undefined : (lock.retention ?? filled)
    this.#keys.set(key, [{ id, body, hold: lock.hold, retention }, ...this.versions(key)])
  }

  destroy(key: string, id: string, bypass: boolean): Verdict {
    const version = this.versions(key).find((one) => one.id === id)
    const verdict = version === undefined ? 'done' : this.#mayDestroy(version, bypass)
    if (verdict === 'done') {
      this.#keys.set(
        key,
        this.versions(key).filter((one) => one.id !== id),
      )
    }
    return verdict
  }

  #mayDestroy({ retention, hold }: ModelLocked, bypass: boolean): Verdict {
    if (hold === true) return 'AccessDenied'
    return retention === undefined ? 'done' : this.#mayRelease(retention, bypass)
  }

  #mayRelease(retention: ModelRetention, bypass: boolean): Verdict {
    if (this.#isBehind) return 'ServiceUnavailable'
    if (retention.until <= this.time) return 'done'
    return retention.mode === 'GOVERNANCE' && bypass ? 'done' : 'AccessDenied'
  }

  /** @param id undefined is the current version */
  retain(key: string, id: string | undefined, wanted: ModelRetention | undefined, bypass: boolean): Verdict {
    const found = this.#lockable(key, id)
    if (typeof found === 'string') return found
    const present = found.retention
    const isTightening =
      present === undefined ||
      (wanted !== undefined &&
        wanted.until >= present.until &&
        !(present.mode === 'COMPLIANCE' && wanted.mode === 'GOVERNANCE'))
    const verdict = isTightening ? 'done' : this.#mayRelease(present, bypass)
    if (verdict === 'done') found.retention = wanted
    return verdict
  }

  hold(key: string, id: string | undefined, hold: boolean): Verdict {
    const found = this.#lockable(key, id)
    if (typeof found === 'string') return found
    found.hold = hold
    return 'done'
  }

  #lockable(key: string, id: string | undefined): ModelLocked | Verdict {
    const [newest] = this.versions(key)
    if (id === undefined) return newest?.body === undefined ? 'NoSuchKey' : newest
    const version = this.versions(key).find((one) => one.id === id)
    if (version === undefined) return 'NoSuchVersion'
    return version.body === undefined ? 'MethodNotAllowed' : version
  }
}
