import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { exportedCheckpoints } from '../../checkpoints/export-checkpoints.ts'
import { type Digests, ExportDirectory } from './export-directory.ts'
import { TIME_FORMS, timeOption } from '../option-values.ts'
import { damageLines, type DamageRecord } from './damage-lines.ts'
import { ClientCommand } from '../../client/client-command.ts'
import type { ManagementClient } from '../../client/management-client.ts'
import { exitOfStoreError } from '../../server/engine-exit.ts'
import { ExitError, exitTable } from '../../exit-codes.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { textTable } from '../../terminal/text-table.ts'

const FORMATS: readonly string[] = ['json', 'csv']
const MEBIBYTE = 1024 ** 2

interface Exported {
  readonly directory: string
  readonly export_id: string
  readonly bytes: number
  /** Name of the file with the records. */
  readonly file: string
  readonly digests: Digests
  readonly manifest: Manifest
}

/** The part of the manifest that is shown. */
interface Manifest {
  /** Null with a filter. */
  readonly records: number | null
  readonly damage?: readonly DamageRecord[]
  /** Of all damage, also beyond what is listed. */
  readonly damage_count?: number
  readonly damaged_records?: number
  readonly sequences: { readonly first: number; readonly last: number; readonly last_hash: string } | null
}

export class AuditExportCommand extends ClientCommand {
  static override paths = [['audit', 'export']]

  static override usage = Command.Usage({
    category: 'Audit',
    description: 'export the audit records of a time range into a directory',
    details: `
      The directory gets four files: audit.json or audit.csv, manifest.json, checkpoints.json, and SHA256SUMS with the
      digests of the other three, computed as the bytes arrive. Check them with sha256sum -c.

      A record at --from is included, one at --to is not, so that successive ranges neither overlap nor leave gaps. The
      export itself has two records in the audit log: its attempt, which is in the export, and its outcome. The directory
      appears under its name only when it is complete.

      Ends with 21 if records of the range cannot be read. All others are exported; the damage is in manifest.json and, as
      records of the operation "unreadable", among the records.
    `,
    examples: [
      ['A month', '$0 audit export --from 2026-08-01T00:00:00Z --to 2026-09-01T00:00:00Z --output audit-2026-08'],
    ],
  })

  from = Option.String('--from,--since', { description: `${TIME_FORMS}, inclusive (default: beginning of the log)` })
  to = Option.String('--to,--until', {
    description: `${TIME_FORMS}, exclusive (default: up to the record of the export, which is included)`,
  })
  bucket = Option.String('--bucket', { description: 'only records about this bucket, on either plane' })
  key = Option.String('--key', { description: 'only records about the object with this key, on either plane' })
  keyPrefix = Option.String('--key-prefix', { description: 'only records about objects whose keys begin with this' })
  format = Option.String('--format', 'json', { description: 'json or csv (default: json)' })
  output = Option.String('--output', { description: 'the directory to create' })

  override async execute(): Promise<number> {
    if (!FORMATS.includes(this.format)) throw new ExitError('usage', `--format takes ${FORMATS.join(' or ')}`)
    if (this.output === undefined) throw new ExitError('usage', '--output is missing: the directory to create')
    const query = {
      from: timeOption('--from', this.from),
      to: timeOption('--to', this.to),
      format: this.format,
      bucket: this.bucket,
      key: this.key,
      key_prefix: this.keyPrefix,
    }
    const path = resolve(this.context.workingDirectory, this.output)
    if (nodeDisk.exists(path)) throw new ExitError('usage', `${path} already exists`)
    const client = this.client()
    const response = await client.open({ method: 'GET', path: '/audit/export', query })
    const exported = await this.#save(client, response, path)
    this.#print(exported)
    return (this.#warn(exported) ? exitTable.storeDamaged : exitTable.ok).code
  }

  async #save(client: ManagementClient, response: IncomingMessage, path: string): Promise<Exported> {
    const interruption = new ExitError('interrupted', 'interrupted; nothing was kept')
    const forget = this.context.control.onStopSignal(() => response.destroy(interruption))
    const directory = new ExportDirectory(nodeDisk, path)
    try {
      return await this.#fill(client, response, directory, path)
    } catch (error) {
      directory.discard()
      throw failureOf(error)
    } finally {
      forget()
    }
  }

  async #fill(
    client: ManagementClient,
    response: IncomingMessage,
    directory: ExportDirectory,
    path: string,
  ): Promise<Exported> {
    const exportId = String(response.headers['x-object-store-export-id'])
    const file = `audit.${this.format}`
    const bar = new ProgressBar(this.context.stderr)
    let bytes: number
    try {
      bytes = await directory.write(file, response, (count) => bar.say(`${(count / MEBIBYTE).toFixed(1)} MiB`))
    } finally {
      bar.clear()
    }
    const query = { export_id: exportId }
    const manifest = (await client.json({ method: 'GET', path: '/audit/export/manifest', query })) as Manifest
    await directory.writeJson('manifest.json', manifest)
    await directory.write('checkpoints.json', exportedCheckpoints(client, manifest.sequences))
    await directory.finish()
    return { directory: path, export_id: exportId, bytes, file, digests: directory.digests, manifest }
  }

  /** Says what cannot be read; false when that is nothing. */
  #warn({ manifest: { damage = [], damage_count = 0, damaged_records = 0 } }: Exported): boolean {
    if (damage_count === 0) return false
    const { stderr } = this.context
    stderr.write(
      `object-store: ${damaged_records} records of the range cannot be read and are missing; manifest.json names them\n`,
    )
    for (const line of damageLines(damage)) stderr.write(`${line}\n`)
    return true
  }

  #print({ directory, export_id, bytes, file, digests, manifest: { records, sequences } }: Exported): void {
    const count = records === null ? '' : `${records} records, `
    const lines = this.json
      ? [JSON.stringify({ directory, export_id, bytes, records, sequences, sha256: Object.fromEntries(digests) })]
      : textTable([
          ['directory', directory],
          ['export', export_id],
          ['records', `${file}, ${count}${bytes} bytes`],
          ['sequences', sequences === null ? 'none' : `${sequences.first} to ${sequences.last}`],
          // In the form that journal verify --expect-head takes.
          ['last record', sequences === null ? 'none' : `${sequences.last}:${sequences.last_hash}`],
          ...Array.from(digests, ([name, digest]) => [`sha256 ${name}`, digest]),
        ])
    this.context.stdout.write(`${lines.join('\n')}\n`)
  }
}

function failureOf(error: unknown): unknown {
  if (error instanceof ExitError) return error
  const { name, code, message } = error as NodeJS.ErrnoException
  const exit = exitOfStoreError(name)
  if (exit !== undefined) return new ExitError(exit, `nothing was kept: ${message}`, { cause: error })
  if (code !== 'ECONNRESET') return error
  const advice = 'the log of the server says why; audit chain finds damage'
  return new ExitError('failed', `the export ended early and nothing was kept: ${advice}`, { cause: error })
}
