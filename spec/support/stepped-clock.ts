/** A clock of a process that a spec sets, by libfaketime (Debian package `faketime`). */
import { spawnSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export class SteppedClock {
  readonly #file: string
  #offset = 0

  /** @param directory for the file that the process reads the time from; the clock is right at first */
  constructor(directory: string) {
    this.#file = join(directory, 'clock')
    this.step(0)
  }

  /** What a process needs in its environment to go by this clock. Its timers go by the true one, as on a host. */
  get environment(): Readonly<Record<string, string>> {
    const { stdout, error } = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
    if (error !== undefined || stdout === '') throw new Error('faketime is not installed', { cause: error })
    return {
      LD_PRELOAD: stdout.trim(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Sets the clock so many milliseconds before or after the true time, for everyone who goes by it, at once. */
  step(milliseconds: number): void {
    this.#offset = milliseconds
    const seconds = Math.round(milliseconds / 1000)
    writeFileSync(`${this.#file}-new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    renameSync(`${this.#file}-new`, this.#file)
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Date.now() + this.#offset
  }
}
