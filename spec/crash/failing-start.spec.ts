/** A part of the server that fails while the rest of it still starts. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Test, test } from 'tap'
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

/** Runs first in every thread. The last front end throws in the first turn of its loop that it spends opening its listener. */
function throwsWhileListening(frontEnds: number): string {
  return `
    import { workerData } from 'node:worker_threads'
    const look = () => {
      if (process.listenerCount('uncaughtException') > 0) throw new Error('thrown while it opens its listener')
      setImmediate(look)
    }
    if (workerData?.listenPort !== undefined && workerData.thread === ${frontEnds - 1}) setImmediate(look)`
}

/** A server that runs that program first in every thread. It must not start; what it says then, and its exit code. */
async function failedStart(t: Test, dataDirectory: string, frontEnds: number, program: string) {
  let child: ChildProcess | undefined
  let ended: Promise<unknown> | undefined
  const starting = startProcess({
    dataDirectory,
    frontEnds,
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` },
    spawned: (spawned) => {
      child = spawned
      ended = once(spawned, 'exit')
      t.teardown(() => spawned.kill('SIGKILL'))
    },
  })
  const said = await starting.then(
    () => t.fail('it never accepts requests'),
    (error: Error) => error.message,
  )
  await ended
  return { said, exitCode: child?.exitCode }
}

for (const frontEnds of [1, 2]) {
  test(`J4 a mark that fails while front end ${frontEnds} of ${frontEnds} starts ends the server`, async (t) => {
    const directory = t.testdir()
    const data = join(directory, 'data')
    const { said, exitCode } = await failedStart(t, data, frontEnds, failsMark(frontEnds, join(directory, 'failed')))
    t.match(said, /the high-water mark cannot be written: Error: EIO/)
    t.equal(exitCode, exitTable.journalFailed.code)
    const again = await startProcess({ dataDirectory: data })
    t.equal(await again.terminate(), 0, 'the store is as it was')
  })

  test(`front end ${frontEnds} of ${frontEnds} fails while it opens its listener: the server ends`, async (t) => {
    const data = t.testdir()
    const { said, exitCode } = await failedStart(t, data, frontEnds, throwsWhileListening(frontEnds))
    t.match(said, /thrown while it opens its listener.*a front end failed/)
    t.equal(exitCode, exitTable.failed.code)
    const again = await startProcess({ dataDirectory: data })
    t.equal(await again.terminate(), 0, 'it gave its lock back')
  })
}
