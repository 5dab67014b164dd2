/** What the log of a start says about a high-water mark that is gone. */
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'tap'
import { logOpening } from '../../cli/server/log/engine-log.ts'
import type { Logger } from '../../cli/server/log/logger.ts'
import { createBucket, write } from '../support/commands.ts'
import { openTestStore, readObject, type TestStore } from '../support/test-store.ts'

/** The lines of a start, with their levels. */
function linesOf({ report, deploymentId }: TestStore): string[] {
  const lines: string[] = []
  const at = (level: string) => (fields: unknown, message?: string) => {
    lines.push(`${level}: ${message ?? String(fields)}`)
  }
  const log = { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger
  logOpening(log, { report, deploymentId } as Parameters<typeof logOpening>[1])
  return lines
}

test('a start without the mark says so, and what it did; with it there is nothing to say', async (t) => {
  const root = t.testdir()
  const made = await openTestStore(root)
  t.same(linesOf(made), ['info: the store is open'], 'a new store has none to miss')
  await made.client.execute(createBucket('kept'))
  await made.client.execute(write('kept', 'key', Buffer.from('value')))
  await made.close(true)
  const { head } = made.paths
  for (const [what, lose] of [
    ['removed', () => rmSync(head)],
    ['empty', () => writeFileSync(head, Buffer.alloc(8192))],
    ['short', () => writeFileSync(head, '')],
  ] as const) {
    lose()
    const store = await openTestStore(root)
    t.match(linesOf(store), [/^info: /, /^warn: journal\/HEAD was missing or damaged: it is written again/], what)
    t.match(store.report, { lostMark: true, discardedProjections: /no high-water mark/ })
    t.same(await readObject(store, 'kept', 'key'), Buffer.from('value'))
    await store.close(true)
    const again = await openTestStore(root)
    t.same(linesOf(again), ['info: the store is open'])
    await again.kill()
  }
})
