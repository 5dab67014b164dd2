/**
 * Trusted logs and witnesses, and how many witnesses must have cosigned a checkpoint: C2SP tlog-policy.
 * @see spec/decisions/0158-receipts-and-witnesses.md
 */
import { type CheckpointNote, CheckpointNoteError, readVerifierKey, type VerifierKey } from './checkpoint-note.ts'
import { type Cosignature, cosignatureOf, readCosignerKey } from './cosignature.ts'

/** A witness of a policy. */
export interface PolicyWitness {
  /** Its name in the policy; without meaning elsewhere. */
  readonly name: string
  readonly key: VerifierKey
  /** Its address for checkpoints, as it is written; undefined if the policy has none. */
  readonly url: string | undefined
}

interface PolicyGroup {
  readonly name: string
  /** Of its members. */
  readonly threshold: number
  readonly members: readonly string[]
}

/** A trust policy. */
export interface WitnessPolicy {
  readonly logs: readonly VerifierKey[]
  readonly witnesses: readonly PolicyWitness[]
  /** Each after its members. */
  readonly groups: readonly PolicyGroup[]
  /** Name of a witness or of a group; undefined: no cosignature is required. */
  readonly quorum: string | undefined
}

/** A text is not a policy. The message names the line. */
export class WitnessPolicyError extends Error {
  override readonly name = 'WitnessPolicyError'
}

export const POLICY_BYTES_MAXIMUM = 64 * 1024
/** Maximum logs, witnesses and groups: C2SP asks for as many. A checkpoint has room for the receipts of 64. */
const COUNT_MAXIMUM = 32
const NAME_BYTES_MAXIMUM = 128
const URL_BYTES_MAXIMUM = 512
const NONE = 'none'

type Words = readonly string[]

/** Takes a policy line by line, because a name must be defined before it is used. */
class PolicyReader {
  readonly logs: VerifierKey[] = []
  readonly witnesses: PolicyWitness[] = []
  readonly groups: PolicyGroup[] = []
  readonly #names = new Set<string>()
  /** Names that are members of a group. */
  readonly #members = new Set<string>()
  quorum: { readonly name: string | undefined } | undefined

  readonly #lines: Readonly<Record<string, (words: Words) => void>> = {
    log: (words) => this.#log(words),
    witness: (words) => this.#witness(words),
    group: (words) => this.#group(words),
    quorum: (words) => this.#quorum(words),
  }

  /** @throws WitnessPolicyError without the number of the line */
  take(line: string): void {
    if (hasControls(line)) refuse('a control character')
    const [word, ...words] = line.split(/[ \t]+/).filter((one) => one !== '')
    if (word === undefined || word.startsWith('#')) return
    const read = Object.hasOwn(this.#lines, word) ? this.#lines[word] : undefined
    if (read === undefined) return refuse(`must begin with log, witness, group or quorum, is ${JSON.stringify(word)}`)
    read(words)
  }

  #log([vkey, url, ...more]: Words): void {
    if (vkey === undefined || more.length > 0) return refuse('must be: log VKEY [URL]')
    const key = keyOf(readVerifierKey, vkey)
    requireNew(this.logs, key, 'log')
    urlOf(url)
    this.logs.push(key)
  }

  #witness([name, vkey, url, ...more]: Words): void {
    if (name === undefined || vkey === undefined || more.length > 0) return refuse('must be: witness NAME VKEY [URL]')
    this.#define(name)
    const key = keyOf(readCosignerKey, vkey)
    const keys = this.witnesses.map((witness) => witness.key)
    requireNew(keys, key, 'witness')
    this.witnesses.push({ name, key, url: urlOf(url) })
  }

  #group([name, count, ...members]: Words): void {
    if (name === undefined || count === undefined || members.length === 0) {
      return refuse('must be: group NAME all|any|COUNT MEMBER...')
    }
    this.#define(name)
    const decimal = /^[1-9]\d{0,3}$/.test(count) ? Number(count) : 0
    const threshold = count === 'all' ? members.length : count === 'any' ? 1 : decimal
    if (threshold < 1 || threshold > members.length) {
      refuse(`the threshold must be all, any, or 1 to ${members.length}, is ${JSON.stringify(count)}`)
    }
    for (const member of members) {
      if (member === name || !this.#names.has(member)) refuse(`${JSON.stringify(member)} is not defined above`)
      if (this.#members.has(member)) refuse(`${JSON.stringify(member)} is already a member of a group`)
      this.#members.add(member)
    }
    if (this.groups.length === COUNT_MAXIMUM) refuse(`more than ${COUNT_MAXIMUM} groups`)
    this.groups.push({ name, threshold, members })
  }

  #quorum([name, ...more]: Words): void {
    if (name === undefined || more.length > 0) return refuse('must be: quorum NAME, or quorum none')
    if (this.quorum !== undefined) return refuse('a second quorum')
    if (name !== NONE && !this.#names.has(name)) return refuse(`${JSON.stringify(name)} is not defined above`)
    this.quorum = { name: name === NONE ? undefined : name }
  }

  #define(name: string): void {
    if (name === NONE) refuse('"none" cannot be defined')
    if (Buffer.byteLength(name) > NAME_BYTES_MAXIMUM) refuse(`the name has more than ${NAME_BYTES_MAXIMUM} bytes`)
    if (this.#names.has(name)) refuse(`${JSON.stringify(name)} is already defined`)
    this.#names.add(name)
  }
}

/** @throws WitnessPolicyError */
export function readWitnessPolicy(bytes: Uint8Array): WitnessPolicy {
  if (bytes.length > POLICY_BYTES_MAXIMUM) {
    throw new WitnessPolicyError(`the policy has more than ${POLICY_BYTES_MAXIMUM} bytes`)
  }
  const text = Buffer.from(bytes).toString()
  if (!Buffer.from(text).equals(bytes)) throw new WitnessPolicyError('the policy is not UTF-8')
  const reader = new PolicyReader()
  for (const [at, line] of text.split('\n').entries()) {
    try {
      reader.take(line)
    } catch (error) {
      if (!(error instanceof WitnessPolicyError)) throw error
      throw new WitnessPolicyError(`line ${at + 1}: ${error.message}`)
    }
  }
  const { logs, witnesses, groups, quorum } = reader
  if (quorum === undefined) throw new WitnessPolicyError('the line "quorum NAME" or "quorum none" is missing')
  return { logs, witnesses, groups, quorum: quorum.name }
}

/** Whether these witnesses, by the names of the policy, are enough. */
export function isQuorum({ groups, quorum }: WitnessPolicy, witnesses: Iterable<string>): boolean {
  const met = new Set(witnesses)
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => met.has(member)).length >= threshold) met.add(name)
  }
  return quorum === undefined || met.has(quorum)
}

/** The witnesses that have cosigned a note, and when. Signatures of other keys are ignored. */
export function cosignersOf(
  { witnesses }: WitnessPolicy,
  { text, signatures }: Pick<CheckpointNote, 'text' | 'signatures'>,
): { readonly witness: PolicyWitness; readonly cosignature: Cosignature }[] {
  return witnesses.flatMap((witness) => {
    const cosignature = cosignatureOf(text, signatures, witness.key)
    return cosignature === undefined ? [] : [{ witness, cosignature }]
  })
}

function keyOf(read: (vkey: string) => VerifierKey, vkey: string): VerifierKey {
  try {
    return read(vkey)
  } catch (error) {
    if (error instanceof CheckpointNoteError) return refuse(error.message)
    throw error
  }
}

/** Two names for one key would count its cosignature twice. */
function requireNew(keys: readonly VerifierKey[], { publicKey }: VerifierKey, what: 'log' | 'witness'): void {
  if (keys.length === COUNT_MAXIMUM) refuse(`more than ${COUNT_MAXIMUM} lines of this kind`)
  if (keys.some((key) => key.publicKey.equals(publicKey))) refuse(`another ${what} has the same public key`)
}

function urlOf(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const isUrl = Buffer.byteLength(url) <= URL_BYTES_MAXIMUM && /^https?:\/\//.test(url) && URL.canParse(url)
  return isUrl ? url : refuse('the address is not a URL of http or https')
}

/** Only the tab is allowed inside a line. */
function hasControls(line: string): boolean {
  return [...line].some((character) => (character < ' ' && character !== '\t') || character === '\x7f')
}

function refuse(message: string): never {
  throw new WitnessPolicyError(message)
}
