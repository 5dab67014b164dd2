/** A page of `HEAD` that the disk cannot read is not an empty one. */
import { test } from 'tap'
import { type JournalFile, REAL_FILES } from '../../../engine/verify/journal-files.ts'
import { verifyAtRest, writeJournal } from '../../support/journals/journal-verdicts.ts'
import { SignedJournal } from '../../support/journals/signed-journal.ts'

const SLOT_BYTES = 4096

/** A file of which the disk cannot read some slots. */
function withLost(file: JournalFile, slots: readonly number[]): JournalFile {
  return {
    size: () => file.size(),
    readAt: (target, position, length) => {
      const isLost = slots.some((slot) => position < (slot + 1) * SLOT_BYTES && position + length > slot * SLOT_BYTES)
      if (isLost) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      return file.readAt(target, position, length)
    },
    close: () => file.close(),
  }
}

test('the verifier says which slots of HEAD the disk cannot read', async (t) => {
  const { builder } = new SignedJournal().records(5).sign()
  const [first, second] = [builder.headSlot(), builder.headSlot()]
  const directory = writeJournal(t.testdir(), builder, Buffer.concat([second, first]))
  const verdictWithout = async (...slots: number[]) => {
    const openToRead = (path: string): JournalFile => {
      const file = REAL_FILES.openToRead(path)
      return path.endsWith('HEAD') ? withLost(file, slots) : file
    }
    return verifyAtRest(directory, { files: { ...REAL_FILES, openToRead } })
  }
  t.match(await verdictWithout(), { mark: { markNumber: 2 }, notes: [] })
  const ofOne = 'cannot be read; the other one counts.'
  t.match(await verdictWithout(0), { mark: { markNumber: 1 }, notes: [`Slot 0 of HEAD ${ofOne}`] })
  t.match(await verdictWithout(1), { mark: { markNumber: 2 }, notes: [`Slot 1 of HEAD ${ofOne}`] })
  const neither = await verdictWithout(0, 1)
  const unnoticed = 'entries lost from the end of the journal cannot be noticed.'
  t.match(neither, { mark: undefined, notes: [`The high-water mark cannot be read, so ${unnoticed}`] })
})
