/** A record with an earlier order time is damage, unless it is the entry that sets the clock back (decision 0019). */
import tap, { test } from 'tap'
import { journalEntries } from '../../support/journal-entries.ts'
import { JournalBuilder } from '../../support/journals/journal-builder.ts'
import type { EntryFields, RecordFields } from '../../support/journals/journal-bytes.ts'
import { askStranger, verifyAtRest } from '../../support/journals/journal-verdicts.ts'
import { temporaryDirectory } from '../../support/test-clients.ts'
import { rmSync } from 'node:fs'

const BEGIN = 1_790_000_000_000_000
const BACK = BEGIN - 86_400_000_000
const SET_BACK = 81
const OBSERVED = 21

interface Variant {
  readonly from?: number
  readonly to?: number
  /** Of the outcome; the change that sets the clock back by default. */
  readonly changes?: readonly unknown[]
  /** Batches of the attempt, the outcome and one more record. */
  readonly batches?: (attempt: EntryFields, outcome: EntryFields, more: EntryFields) => EntryFields[][]
}

/** A journal of genesis, attempt and outcome; the outcome, sequence 2, has the time `BACK`. */
function journalWith({ from = BEGIN + 1, to = BACK, changes, batches }: Variant): JournalBuilder {
  const alterRecord = (record: RecordFields) => {
    if (record.sequence === 2) record.time = BACK
    if (record.sequence > 2) record.time = BACK + record.sequence
  }
  const journal = new JournalBuilder({ startTime: BEGIN, alterRecord })
  const attempt = { result: 0, operation: 'clock' }
  const outcome = {
    operation: 'clock',
    intentSequence: 1,
    changes: changes ?? [[SET_BACK, from, to, 'why']],
  }
  const made = batches?.(attempt, outcome, {}) ?? [[attempt, outcome], [{}]]
  for (const entries of made) journal.entries(...entries)
  return journal
}

const DAMAGED: Readonly<Record<string, Variant>> = {
  'another change': { changes: [[OBSERVED]] },
  'another change beside it': { changes: [[SET_BACK, BEGIN + 1, BACK, 'why'], [OBSERVED]] },
  'from another time': { from: BEGIN },
  'to another time': { to: BACK + 1 },
  'in a batch without its attempt': { batches: (attempt, outcome, more) => [[attempt], [outcome], [more]] },
  'in a batch with a further record': { batches: (attempt, outcome, more) => [[attempt, outcome, more]] },
}

test('every reader takes the entry that sets the clock back, and no other earlier time', async (t) => {
  const root = temporaryDirectory()
  tap.teardown(() => rmSync(root, { recursive: true, force: true }))
  const named = [['sound', {}] as const, ...Object.entries(DAMAGED)]
  const directories = named.map(([, variant], index) => {
    journalWith(variant).write(`${root}/${index}/journal`)
    return `${root}/${index}`
  })
  const said = askStranger(...directories.map((directory) => `${directory}/journal`))
  for (const [index, [name]] of named.entries()) {
    const directory = directories[index] as string
    const { intact } = await verifyAtRest(`${directory}/journal`)
    const isSound = name === 'sound'
    t.equal(intact, isSound, `verifier: ${name}`)
    t.equal(said[index]?.startsWith('intact '), isSound, `the page's verifier: ${name} ${said[index]}`)
    const read = () => journalEntries(directory).length
    if (isSound) t.equal(read(), 3, 'entries beside the genesis')
    else t.throws(read, /time goes back/, `recovery: ${name}`)
  }
})
