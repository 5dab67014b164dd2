/** The verifier in Python as a process that judges one journal after the other: its start takes longer than they do. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

const PROGRAM = `
import sys
sys.path.insert(0, sys.argv[1])
sys.stdout.reconfigure(errors="backslashreplace")
import verify_journal
for line in sys.stdin:
    code = verify_journal.verdict(line.rstrip("\\n"))
    print(f"\\x00{code}", flush=True)
`

/** Ends with the thread that it belongs to, since its input ends then. */
export class Stranger {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Interface

  constructor() {
    const command = ['-c', PROGRAM, resolve('spec/formats')]
    this.#child = spawn('python3', command, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#hold(false)
    this.#lines = createInterface({ input: this.#child.stdout })
  }

  /** The lines that it prints of a journal; one ask at a time. @throws Error when the process ends */
  ask(directory: string): Promise<readonly string[]> {
    return new Promise((answer, fail) => {
      const lines: string[] = []
      const ended = (): void => fail(new Error('the verifier in Python ended'))
      const take = (line: string): void => {
        if (!line.startsWith('\0')) return void lines.push(line)
        this.#lines.off('line', take)
        this.#child.off('exit', ended)
        this.#hold(false)
        answer(lines)
      }
      this.#hold(true)
      this.#lines.on('line', take)
      this.#child.once('exit', ended)
      this.#child.stdin.write(`${directory}\n`)
    })
  }

  /** Whether the process keeps this one alive: only while it is asked something. */
  #hold(isAsked: boolean): void {
    for (const part of [this.#child, this.#child.stdin as unknown as Socket, this.#child.stdout as unknown as Socket]) {
      if (isAsked) part.ref()
      else part.unref()
    }
  }
}
