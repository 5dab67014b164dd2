import { Command, Option } from 'clipanion'
import { ClientCommand } from '../../client/client-command.ts'
import { brokenOff, type ManagementClient, pathOf } from '../../client/management-client.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { textTable } from '../../terminal/text-table.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { bucketArgument, wholeOption } from '../option-values.ts'

const MEBIBYTE = 1024 ** 2

interface Counts {
  readonly examined: number
  readonly bytes: number
  readonly damaged: number
}

interface DamagedVersion {
  readonly key: string
  readonly version_id: string
}

/** An answer of the server, which may cover a part of the bucket. */
interface Part extends Counts {
  readonly verified: number
  readonly pending: number
  readonly damaged_objects: readonly DamagedVersion[]
  readonly complete: boolean
  readonly next_after: string | null
  readonly next_after_version_id: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** All parts together. */
type Summary = Omit<Part, 'damaged_objects'> & { readonly bucket: string; readonly damaged_objects: DamagedVersion[] }

const NOTHING_YET = { examined: 0, bytes: 0, verified: 0, damaged: 0, pending: 0, damaged_objects: [] }

export class VerifyBucketCommand extends ClientCommand {
  static override paths = [['verify', 'bucket']]

  static override usage = Command.Usage({
    category: 'Running server',
    description: 'read every version in a bucket and compare it with its digest',
    details: `
      Ends with 0 if all of it is intact, with 21 if anything is damaged, and with 3 if only part of it was read: then it prints
      where to continue. "pending" counts intact multipart objects whose digest is still being computed.

      The server runs one verification of a bucket at a time, and stops it when this command is interrupted.
    `,
    examples: [
      ['Every version', '$0 verify bucket photos'],
      ['Only what is current', '$0 verify bucket photos --current'],
    ],
  })

  bucket = Option.String({ name: 'bucket' })
  current = Option.Boolean('--current', false, { description: 'only the current versions' })
  maximumEntries = Option.String('--maximum-entries', { description: 'stop after this many versions' })
  after = Option.String('--after', { description: 'continue after this key' })
  afterVersionId = Option.String('--after-version-id', { description: 'continue after this version of --after' })

  override async execute(): Promise<number> {
    const summary = await this.#follow(wholeOption('--maximum-entries', this.maximumEntries))
    const lines = this.json ? [JSON.stringify(summary)] : report(summary)
    this.context.stdout.write(`${lines.join('\n')}\n`)
    if (!summary.complete) this.context.stderr.write(`object-store: ${reasonOf(summary)}\n`)
    if (summary.damaged > 0) return exitTable.storeDamaged.code
    return (summary.complete ? exitTable.ok : exitTable.partly).code
  }

  /** Asks for the rest as long as an answer ends early without an error. */
  async #follow(maximum: number | undefined): Promise<Summary> {
    const client = this.client()
    for (let sum: Summary | undefined; ; ) {
      const part = await this.#part(client, sum, maximum).catch((error: unknown) => failedPart(error, sum))
      sum = added(sum ?? { ...part, bucket: this.bucket, ...NOTHING_YET }, part)
      if (sum.complete || sum.error !== null || (maximum !== undefined && sum.examined >= maximum)) return sum
    }
  }

  async #part(client: ManagementClient, before: Summary | undefined, maximum: number | undefined): Promise<Part> {
    const left = maximum === undefined ? undefined : maximum - (before?.examined ?? 0)
    const response = await client.open({
      method: 'POST',
      path: pathOf('verify', 'buckets', bucketArgument(this.bucket)),
      query: {
        versions: this.current ? 'current' : 'all',
        maximum_entries: left?.toString(),
        after: before?.next_after ?? this.after,
        after_version_id: before === undefined ? this.afterVersionId : (before.next_after_version_id ?? undefined),
      },
    })
    const bar = new ProgressBar(this.context.stderr)
    try {
      return await readPart(response, (counts) => bar.say(progressText(counts, before)))
    } finally {
      bar.clear()
    }
  }
}

/** Reads an answer. It has a line of progress now and then; all its lines together are one JSON object. */
async function readPart(response: AsyncIterable<Buffer>, progress: (counts: Counts) => void): Promise<Part> {
  const decoder = new TextDecoder()
  let text = ''
  let line = 0
  try {
    for await (const piece of response) {
      text += decoder.decode(piece, { stream: true })
      for (let end = text.indexOf('\n', line); end !== -1; end = text.indexOf('\n', line)) line = end + 1
      const [, counts] = /(\{"examined":[^{}]*\})$/.exec(text.slice(line)) ?? []
      if (counts !== undefined) progress(JSON.parse(counts) as Counts)
    }
  } catch (error) {
    brokenOff(error)
  }
  return JSON.parse(text) as Part
}

function progressText({ examined, bytes, damaged }: Counts, before: Summary | undefined): string {
  const [versions, mebibytes] = [examined + (before?.examined ?? 0), (bytes + (before?.bytes ?? 0)) / MEBIBYTE]
  const found = damaged + (before?.damaged ?? 0)
  return `${versions.toLocaleString('en')} versions, ${mebibytes.toFixed(1)} MiB, ${found} damaged`
}

function added(sum: Summary, part: Part): Summary {
  return {
    ...sum,
    ...part,
    examined: sum.examined + part.examined,
    bytes: sum.bytes + part.bytes,
    verified: sum.verified + part.verified,
    damaged: sum.damaged + part.damaged,
    pending: sum.pending + part.pending,
    damaged_objects: [...sum.damaged_objects, ...part.damaged_objects],
  }
}

/** A part that failed after others: their findings are kept. @throws the error, for the first part */
function failedPart(error: unknown, before: Summary | undefined): Part {
  if (before === undefined || !(error instanceof ExitError)) throw error
  return { ...before, ...NOTHING_YET, complete: false, error: { code: error.exit, message: error.message } }
}

function reasonOf({ error, next_after, next_after_version_id }: Summary): string {
  const why = error === null ? 'only a part was verified' : `only a part was verified: ${visibleText(error.message)}`
  if (next_after === null) return why
  const version = next_after_version_id === null ? '' : ` --after-version-id ${next_after_version_id}`
  return `${why}; go on with --after ${JSON.stringify(next_after)}${version}`
}

function report({ bucket, examined, bytes, verified, damaged, pending, damaged_objects }: Summary): string[] {
  const counts = textTable([
    ['bucket', bucket],
    ['examined', String(examined)],
    ['bytes', String(bytes)],
    ['verified', String(verified)],
    ['damaged', String(damaged)],
    ['pending', String(pending)],
  ])
  if (damaged_objects.length === 0) return counts
  const rows = damaged_objects.map(({ key, version_id }) => [visibleText(key), version_id])
  return [...counts, '', ...textTable([['DAMAGED KEY', 'VERSION_ID'], ...rows])]
}
