/** A witness of checkpoints and an authority for time stamps, without sockets. They outlive the processes that ask them. */
import { readCheckpointNote, verifierKeyText } from '../../../engine/checkpoints/checkpoint-note.ts'
import { der, DER, DER_EXPLICIT_0, DerReader } from '../../../engine/checkpoints/der.ts'
import type { timedPost } from '../../../workers/checkpoints/bounded-post.ts'
import { HonestWitness, readSubmission } from '../../support/honest-witness.ts'
import type { Random } from '../../support/random.ts'

type Post = typeof timedPost
type Answer = Awaited<ReturnType<Post>>

/** Of so many requests one finds nobody, one is refused, and the answer to one is lost. */
const MOODS = 8
const TIME_STAMP_REPLY = 'application/timestamp-reply'
const OIDS = {
  signedData: '2a864886f70d010702',
  timeStampInfo: '2a864886f70d0109100104',
  policy: '2a030401',
}
const VERSION = { info: 1, signedData: 3 }

export const AUTHORITY = 'http://authority.example/stamp'
export const WITNESS = 'http://witness.example/w'

export class OutsideParties {
  readonly witness: HonestWitness
  /** The key of the log, as its operator tells it to the witness; of whatever log it is asked about. */
  publicKey: Buffer = Buffer.alloc(0)
  #origin = ''
  readonly #random: Random
  #serial = 0

  constructor(random: Random) {
    this.#random = random
    this.witness = new HonestWitness({
      name: 'witness.example',
      seed: 9,
      memory: {},
      logKey: () => verifierKeyText(this.#origin, this.publicKey),
      seconds: () => Math.floor(Date.now() / 1000),
    })
  }

  /** In place of the request of a worker. What is answered may be lost on its way. */
  readonly post: Post = async (url, body, { timeoutMilliseconds, stop }) => {
    const mood = this.#random.below(MOODS)
    if (mood === 0) throw new Error('connect ECONNREFUSED')
    if (mood === 1) return { ...NOTHING, status: 503 }
    const answer = url.href.startsWith(WITNESS) ? this.#cosign(body) : this.#stamp(body)
    await wait(mood === 2 ? timeoutMilliseconds : 1, stop)
    if (mood === 2) throw new Error(`no answer within ${timeoutMilliseconds / 1000} seconds`)
    return answer
  }

  #cosign(body: Uint8Array): Answer {
    const submission = readSubmission(Buffer.from(body).toString())
    this.#origin = readCheckpointNote(submission.note).origin
    const { status, contentType, text = '' } = this.witness.answer(submission)
    return { ...NOTHING, status, contentType, body: Buffer.from(text) }
  }

  /** Granted, with the parts that a store reads, and no signature (RFC 3161 section 2.4.2). */
  #stamp(question: Uint8Array): Answer {
    const asked = new DerReader(Buffer.from(question)).enter(DER.sequence)
    asked.take(DER.integer)
    const imprint = der(DER.sequence, asked.take(DER.sequence))
    const nonce = der(DER.integer, asked.take(DER.integer))
    this.#serial += 1
    const time = new Date(Date.now()).toISOString().replace(/[-:T]/g, '').replace(/\.\d+/, '')
    const info = der(
      DER.sequence,
      der(DER.integer, Buffer.of(VERSION.info)),
      oid(OIDS.policy),
      imprint,
      der(DER.integer, Buffer.of(this.#serial % 0x80)),
      der(DER.time, Buffer.from(time)),
      nonce,
    )
    const contents = der(DER.sequence, oid(OIDS.timeStampInfo), der(DER_EXPLICIT_0, der(DER.octets, info)))
    const signed = der(DER.sequence, der(DER.integer, Buffer.of(VERSION.signedData)), der(DER.set), contents)
    const token = der(DER.sequence, oid(OIDS.signedData), der(DER_EXPLICIT_0, signed))
    const granted = der(DER.sequence, der(DER.integer, Buffer.of(0)))
    return { ...NOTHING, contentType: TIME_STAMP_REPLY, body: der(DER.sequence, granted, token) }
  }
}

const NOTHING: Answer = { status: 200, contentType: undefined, headers: {}, body: Buffer.alloc(0) }

function oid(digits: string): Buffer {
  return der(DER.oid, Buffer.from(digits, 'hex'))
}

/** @throws when the process stops meanwhile */
function wait(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = () => reject(new Error('the server stops'))
    if (stop.aborted) return stopped()
    stop.addEventListener('abort', stopped)
    setTimeout(resolve, milliseconds)
  })
}
