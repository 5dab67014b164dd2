/** What logs submit to a witness: nothing is cosigned but a tree of the log that extends the one that was seen. */
import { checkpointNote, checkpointText } from '../../../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage } from '../../../../engine/checkpoints/cosignature.ts'
import type { RequestJournal } from '../../../../planes/exchange/request-journal.ts'
import { ManagementError } from '../../../../planes/management/errors.ts'
import { SUBMISSION_BYTES_MAXIMUM } from '../../../../planes/management/checkpoints/witness.ts'
import { accepted, type FuzzTarget, mustBeSame, mustHold, refused, type Verdict } from '../target.ts'
import { LOG, SEEN, WITNESS, WITNESS_KEY } from '../witness-stub.ts'

const SIZES = [SEEN, 6, 8, 64, 100]
/** Of the tree in one of the submissions that an input may be made from. */
const OTHER_SIZE = 7
/** Every text that may be cosigned, whatever lines follow it. */
const TRUE_HEADS = new Map([...SIZES, OTHER_SIZE].map((size) => [LOG.text(size).toString(), size]))
const TIME = 1_795_000_000

function headOf(text: string): string {
  return text.split('\n').slice(0, 3).join('\n').concat('\n')
}

async function judge(input: Buffer): Promise<Verdict> {
  const recorded: unknown[] = []
  const journal = {
    executeAsSystem: async (_: string, __: string, { cosigned }: { readonly cosigned: unknown }) =>
      void recorded.push(cosigned),
  } as unknown as RequestJournal
  try {
    const examined = await WITNESS.examine(input, journal)
    if ('conflict' in examined) {
      mustBeSame([examined.conflict, recorded.length], [SEEN, 0], 'the size that was seen')
      return refused('conflict')
    }
    const note = input.toString().slice(input.indexOf('\n\n') + 2)
    const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
    const size = TRUE_HEADS.get(headOf(text))
    mustHold(size !== undefined, `a tree that is none of the log was cosigned: ${text}`)
    mustBeSame(recorded.length, size === SEEN ? 0 : 1, 'what is recorded')
    const signature = WITNESS_KEY.sign(cosignedMessage(TIME, Buffer.from(text)))
    const line = cosignatureLine('fuzz.witness', WITNESS_KEY.publicKey, { seconds: TIME, signature })
    mustBeSame(examined.line, line, 'the cosignature')
    return accepted(`${size}`)
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error
    mustBeSame(recorded.length, 0, 'refused, and recorded')
    mustHold(error.status < 500, error.message)
    return refused(`${error.code} ${error.message.replaceAll(/\d+/g, '#')}`)
  }
}

/** Signs whatever the checkpoint says now with the key of the log. */
function repair(input: Buffer): Buffer {
  const text = input.toString()
  const split = text.indexOf('\n\n')
  const [origin = '', size = '', root = ''] = text.slice(split + 2).split('\n')
  const hash = Buffer.from(root, 'base64')
  if (split === -1 || origin !== LOG.origin || !/^\d{1,9}$/.test(size) || hash.length !== 32) return input
  const statement = { origin, size: Number(size), root: hash }
  const note = checkpointNote(statement, LOG.key.publicKey, LOG.key.sign(checkpointText(statement)))
  return Buffer.from(`${text.slice(0, split + 2)}${note}`)
}

const OTHERS = [LOG.submission(0, 0), LOG.submission(0, SEEN), LOG.submission(6, 64), LOG.submission(SEEN, OTHER_SIZE)]

export const WITNESS_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'add-checkpoint',
    seeds: SIZES.map((size) => LOG.submission(SEEN, size)),
    words: [
      'old ',
      '\n\n',
      '— ',
      LOG.origin,
      '0',
      ...LOG.path(SEEN, 100).map((hash) => `${hash.toString('base64')}\n`),
      ...OTHERS,
    ],
    bytesMaximum: SUBMISSION_BYTES_MAXIMUM,
    repair,
    judge,
  },
]
