/** A store that fails after it was opened, while the rest of the server still starts. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'tap'
import { exitTable } from '../../cli/exit-codes.ts'
import { startProcess } from '../support/server-process.ts'

/**
 * Runs first in every thread. In the engine thread every mark of HEAD after that of the opening fails, and leaves a
 * file. The last front end starts when the file is there and the main thread has had time to hear of the failure.
 */
function failsMark(frontEnds: number, file: string): string {
  return `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    import { setTimeout } from 'node:timers/promises'
    import { workerData } from 'node:worker_threads'
    const write = fs.writeSync
    let marks = 0
    fs.writeSync = (...words) => {
      if (Buffer.isBuffer(words[1]) && words[1].toString('latin1', 0, 8) === 'OSTHEAD1' && (marks += 1) > 1) {
        fs.closeSync(fs.openSync(${JSON.stringify(file)}, 'w'))
        throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
      }
      return write(...words)
    }
    syncBuiltinESMExports()
    if (workerData?.listenPort !== undefined && workerData.thread === ${frontEnds - 1}) {
      while (!fs.existsSync(${JSON.stringify(file)})) await setTimeout(20)
      await setTimeout(300)
    }`
}

for (const frontEnds of [1, 2]) {
  test(`J4 a mark that fails while front end ${frontEnds} of ${frontEnds} starts ends the server`, async (t) => {
    const directory = t.testdir()
    const program = failsMark(frontEnds, join(directory, 'failed'))
    let process: ChildProcess | undefined
    let ended: Promise<unknown> | undefined
    const starting = startProcess({
      dataDirectory: join(directory, 'data'),
      frontEnds,
      environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` },
      spawned: (child) => {
        process = child
        ended = once(child, 'exit')
        t.teardown(() => child.kill('SIGKILL'))
      },
    })
    await t.rejects(starting, /the high-water mark cannot be written: Error: EIO/, 'it never accepts requests')
    await ended
    t.equal(process?.exitCode, exitTable.journalFailed.code)
    const again = await startProcess({ dataDirectory: join(directory, 'data') })
    t.equal(await again.terminate(), 0, 'the store is as it was')
  })
}
