/** Who may move bytes from one payload to another. */
import { test } from 'tap'
import { BusyError } from '../../../engine/shares/shares.ts'
import { CopyTurns } from '../../../planes/objects/copy-turns.ts'

test('few run, few wait in the order of asking, and those beyond are refused at once', async (t) => {
  const turns = new CopyTurns(2, 3)
  const ends: (() => void)[] = []
  const begun: number[] = []
  const copy = (index: number) =>
    turns.run(async () => {
      begun.push(index)
      await new Promise<void>((resolve) => ends.push(resolve))
      return index
    })
  const copies = Array.from({ length: 5 }, (_, index) => copy(index))
  t.equal(turns.running, 2)
  t.equal(turns.waiting, 3)
  await t.rejects(copy(5), BusyError)
  t.same(begun, [0, 1])
  for (let ended = 1; ended <= 5; ended += 1) {
    ends[ended - 1]?.()
    await copies[ended - 1]
    t.same(begun, [0, 1, 2, 3, 4].slice(0, Math.min(5, ended + 2)))
    t.equal(turns.running, Math.min(2, 5 - ended))
  }
  t.same(await Promise.all(copies), [0, 1, 2, 3, 4])
  t.equal(turns.waiting, 0)
})

test('a copy that fails gives its place to the next', async (t) => {
  const turns = new CopyTurns(1, 2)
  const failing = turns.run(() => Promise.reject(new Error('the disk is gone')))
  const next = turns.run(async () => 'done')
  await t.rejects(failing, { message: 'the disk is gone' })
  t.equal(await next, 'done')
  t.equal(turns.running, 0)
})
