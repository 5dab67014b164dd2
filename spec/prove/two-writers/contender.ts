/**
 * One of those that want a store: a process of its own, so that it can be of another version of Node.js or in other
 * namespaces. It starts a server, writes as long as that serves, and tells on its output what it was told.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type ProcessServer, startProcess } from '../../support/server-process.ts'
import { CONTESTED_BUCKET, type FromContender, type ToContender } from './messages.ts'

const [dataDirectory = '', name = ''] = process.argv.slice(2)

function tell(message: FromContender): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** Undefined when it ended in its start. */
async function started(): Promise<ProcessServer | undefined> {
  let child: ChildProcess | undefined
  let exited: Promise<unknown> | undefined
  try {
    return await startProcess({
      dataDirectory,
      spawned: (spawned) => {
        child = spawned
        exited = once(spawned, 'exit')
      },
    })
  } catch (error) {
    await exited
    tell({ refused: child?.exitCode ?? null, reason: (error as Error).message })
    return undefined
  }
}

/** Puts one object after the other; ends at the first that is not answered with 200. */
async function write({ wire }: ProcessServer, goesOn: () => boolean): Promise<void> {
  await wire.send('PUT', `/${CONTESTED_BUCKET}`)
  for (let number = 0; goesOn(); number += 1) {
    const key = `${name}-${number}`
    const { status } = await wire.send('PUT', `/${CONTESTED_BUCKET}/${key}`, { body: `bytes of ${key}` })
    if (status !== 200) return
    tell({ acknowledged: key })
  }
}

const server = await started()
if (server !== undefined) {
  tell({ serves: true })
  let order: ToContender | undefined
  const input = createInterface({ input: process.stdin })
  const ordered = new Promise<ToContender>((resolve) => {
    input.once('line', (line) => resolve(line as ToContender))
    // The proof has ended without a word.
    input.once('close', () => resolve('kill'))
  }).then((line) => (order = line))
  // A server that dies takes its connections with it.
  const writing = write(server, () => order === undefined).catch(() => undefined)
  if ((await ordered) === 'kill') await server.kill9()
  await writing
  await (order === 'kill' ? server.kill9() : server.terminate())
  tell({ ended: server.process.exitCode })
}
process.exit()
