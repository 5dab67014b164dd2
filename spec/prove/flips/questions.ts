/** What clients ask a store with a flipped bit, and whether the answers are right or name damage. */
import { isRowDamage } from '../../../engine/errors.ts'
import { isUnreadable } from '../../../engine/disk/unreadable.ts'
import type { BucketId } from '../../../engine/brands.ts'
import { readPayload } from '../../support/test-store.ts'
import type { WireAnswer } from '../../support/wire-client.ts'
import type { FlippedServer } from './flipped-server.ts'
import { type Known, type KnownObject, sha256 } from './whole-store.ts'

/** Of all that are known, every so many objects are asked for over S3; all are read as S3 reads them. */
const ASKED_EVERY = 25
const SELDOM_ASKED_EVERY = 100
const NAMED = new Set(['PayloadDamagedError', 'VolumeDamagedError', 'JournalDamagedError', 'ColdSegmentDamagedError'])
const NAMED_CODES = new Set(['ObjectDamaged', 'ServiceUnavailable'])

/** Whether an error says that something is damaged. */
export function namesDamage(error: unknown): boolean {
  return error instanceof Error && (NAMED.has(error.name) || isRowDamage(error) || isUnreadable(error))
}

export class Answers {
  /** Answers that are not right, and do not say so. */
  readonly wrong: string[] = []
  /** What answers that named damage were about. */
  readonly named: string[] = []

  /** Notes an answer that is an error. */
  refused(what: string, { status, code, complete }: WireAnswer): void {
    if (!complete || (code !== undefined && NAMED_CODES.has(code)) || status === 503 || status === 409)
      this.named.push(what)
    else this.wrong.push(`${what}: ${status} ${code}`)
  }

  failed(what: string, error: unknown): void {
    if (namesDamage(error)) this.named.push(what)
    else this.wrong.push(`${what}: ${String(error)}`)
  }
}

/** Lists everything, and asks for a few objects. @param turn which share of the objects is asked for over S3 */
export async function askFor(server: FlippedServer, known: Known, turn: number): Promise<Answers> {
  const answers = new Answers()
  for (const bucket of ['plain', 'versioned']) {
    await askListing(server, known, bucket, answers)
    await askVersions(server, known, bucket, answers)
  }
  const objects = known.objects.filter((_, index) => (index + turn) % SELDOM_ASKED_EVERY === 0)
  for (const object of objects) await askObject(server, object, answers)
  return answers
}

/** Lists, reads and asks for everything. @param turn which share of the objects is asked for over S3 */
export async function ask(server: FlippedServer, known: Known, turn: number): Promise<Answers> {
  const answers = await askFor(server, known, turn)
  for (const [index, object] of known.objects.entries()) {
    await readAsS3(server, object, answers)
    if ((index + turn) % ASKED_EVERY === 0) await askObject(server, object, answers)
  }
  for (const [index, name] of known.absent.entries()) {
    if ((index + turn) % ASKED_EVERY === 0) await askAbsent(server, name, answers)
  }
  await askLocked(server, known.locked, answers)
  return answers
}

function named({ bucket, key, versionId }: KnownObject): string {
  return `${bucket}/${key}${versionId === undefined ? '' : `?versionId=${versionId}`}`
}

async function askObject({ raw }: FlippedServer, object: KnownObject, answers: Answers): Promise<void> {
  const what = named(object)
  const got = await raw('GET', `/${what}`)
  if (got.status !== 200 || !got.complete) answers.refused(`GET ${what}`, got)
  else if (sha256(got.body) !== object.sha256) answers.wrong.push(`GET ${what}: other bytes`)
  else if (got.headers['etag'] !== object.etag) answers.wrong.push(`GET ${what}: ETag ${got.headers['etag']}`)
  const head = await raw('HEAD', `/${what}`)
  // An answer to HEAD has no code.
  if (head.status !== 200) answers.refused(`HEAD ${what}`, head)
  else if (head.headers['etag'] !== object.etag || head.headers['content-length'] !== String(object.bytes)) {
    answers.wrong.push(`HEAD ${what}: ${JSON.stringify(head.headers)}`)
  }
}

async function askAbsent({ raw }: FlippedServer, name: string, answers: Answers): Promise<void> {
  const got = await raw('GET', `/${name}`)
  if (got.status !== 404) answers.refused(`GET ${name}, which was deleted`, got)
}

async function askLocked({ raw }: FlippedServer, locked: KnownObject, answers: Answers): Promise<void> {
  const what = named(locked)
  const deleted = await raw('DELETE', `/${what}`)
  if (deleted.code !== 'AccessDenied') answers.refused(`DELETE ${what}, which is locked`, deleted)
}

/** As a front end of S3 finds and reads it: in the catalog, and with its payload proved. */
async function readAsS3({ session, store }: FlippedServer, object: KnownObject, answers: Answers): Promise<void> {
  if (!object.isCurrent) return
  const what = `read of ${named(object)}`
  try {
    const snapshot = session.catalog.snapshot()
    const bucket = snapshot.bucket(object.bucket)
    const found = bucket && snapshot.object(bucket.id as BucketId, object.key)
    if (found === undefined) answers.wrong.push(`${what}: not found`)
    // As a damaged payload, which names the object (planes/objects/read-object.ts).
    else if (found.payload !== undefined && snapshot.payload(found.payload) === undefined) answers.named.push(what)
    else {
      const reading = { catalog: store.catalog, payloads: session.payloads }
      if (sha256(await readPayload(reading, found.payload)) !== object.sha256)
        answers.wrong.push(`${what}: other bytes`)
    }
  } catch (error) {
    answers.failed(what, error)
  }
}

async function askListing(server: FlippedServer, known: Known, bucket: string, answers: Answers): Promise<void> {
  const what = `LIST ${bucket}`
  const got = await server.raw('GET', `/${bucket}?list-type=2`)
  if (got.status !== 200 || !got.complete) return answers.refused(what, got)
  const expected = known.objects.filter((one) => one.bucket === bucket && one.isCurrent)
  compare(
    what,
    answers,
    sure(known, bucket, listed(got.text, 'Contents', ['Key', 'ETag', 'Size'])),
    expected.map(({ key, etag, bytes }) => `${key} ${etag} ${bytes}`),
  )
}

async function askVersions(server: FlippedServer, known: Known, bucket: string, answers: Answers): Promise<void> {
  const what = `LIST versions of ${bucket}`
  const got = await server.raw('GET', `/${bucket}?versions`)
  if (got.status !== 200 || !got.complete) return answers.refused(what, got)
  const expected = known.objects.filter((one) => one.bucket === bucket)
  compare(
    what,
    answers,
    sure(known, bucket, listed(got.text, 'Version', ['Key', 'VersionId', 'ETag', 'Size'])),
    expected.map(({ key, versionId = 'null', etag, bytes }) => `${key} ${versionId} ${etag} ${bytes}`),
  )
}

/** Lines of which it is known whether they are to be there. */
function sure({ unsure }: Known, bucket: string, lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !unsure.includes(`${bucket}/${line.slice(0, line.indexOf(' '))}`))
}

/** The wanted children of each element of a name, in one line. */
function listed(text: string, element: string, wanted: readonly string[]): readonly string[] {
  const [, ...parts] = text.split(`<${element}>`)
  return parts.map((part) => wanted.map((name) => child(part, name)).join(' '))
}

function child(text: string, name: string): string {
  const start = text.indexOf(`<${name}>`) + name.length + 2
  return text.slice(start, text.indexOf('<', start)).replaceAll('&quot;', '"')
}

function compare(what: string, answers: Answers, got: readonly string[], expected: readonly string[]): void {
  const there = new Set(got)
  const wanted = new Set(expected)
  const missing = expected.filter((line) => !there.has(line))
  const other = got.filter((line) => !wanted.has(line))
  if (missing.length > 0) answers.wrong.push(`${what}: ${missing.length} missing, first ${missing[0]}`)
  if (other.length > 0) answers.wrong.push(`${what}: ${other.length} that are not there, first ${other[0]}`)
  if (there.size !== got.length) answers.wrong.push(`${what}: the same line twice`)
}
