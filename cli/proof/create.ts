import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import { parseBundle } from '../../engine/proof/parse-bundle.ts'
import { BUNDLE_BYTES_MAXIMUM } from '../../engine/proof/verify-bundle.ts'
import { ClientCommand } from '../client/client-command.ts'
import { pathOf } from '../client/management-client.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { saveFile } from '../terminal/save-file.ts'
import { bucketArgument } from '../commands/option-values.ts'
import { visibleText } from '../terminal/visible-text.ts'

export class ProofCreateCommand extends ClientCommand {
  static override paths = [['proof', 'create']]

  static override usage = Command.Usage({
    category: 'Proofs',
    description: 'get a signed proof bundle of one version of an object',
    details: `
      With the bundle, the file, and the public key of the deployment from elsewhere, anybody can check offline that the
      file has the bytes that were written: see proof verify. A bundle contains no credentials and no payload.

      The file appears under its name only when it is complete.
    `,
    examples: [['Of the current version', '$0 proof create photos 2026/cat.png --output cat.proof.json']],
  })

  bucket = Option.String({ name: 'bucket' })
  key = Option.String({ name: 'key' })
  versionId = Option.String('--version-id', { description: 'this version instead of the current one' })
  format = Option.String('--format', {
    description: '2 has the records of the history themselves, which binds what they say to their hashes (1)',
  })

  output = Option.String('--output', { description: 'file to write the bundle to' })

  override async execute(): Promise<number> {
    const { output } = this
    if (output === undefined) throw new ExitError('usage', '--output is missing: the file to write the bundle to')
    const response = await this.client().open({
      method: 'GET',
      path: pathOf('buckets', bucketArgument(this.bucket), 'object-proof', this.key),
      query: { version_id: this.versionId, format_version: formatVersion(this.format) },
    })
    const bytes = await bytesOf(response)
    const parsed = parseBundle(bytes)
    if (parsed.kind !== 'bundle') {
      const reason = parsed.kind === 'newer' ? `its format version is ${parsed.formatVersion}` : parsed.reason
      throw new ExitError('failed', `the answer is not a proof bundle of this version: ${visibleText(reason)}`)
    }
    const { object, payload, deployment, format_version } = parsed.bundle
    const isAsked =
      format_version === Number(this.format ?? 1) &&
      object.bucket === this.bucket &&
      object.key === this.key &&
      (this.versionId === undefined || object.version_id === this.versionId)
    if (!isAsked) throw new ExitError('failed', 'the server answered with a proof of another object')
    saveFile(resolve(this.context.workingDirectory, output), bytes)
    const written = {
      output,
      version_id: object.version_id,
      size: object.size,
      sha256: payload.sha256,
      key_id: deployment.key_id,
    }
    this.print(written, (answer: typeof written) =>
      Object.entries(answer).map(([name, value]) => [name, String(value)]),
    )
    return exitTable.ok.code
  }
}

/** @throws ExitError `usage` */
function formatVersion(text: string | undefined): string | undefined {
  if (text === undefined || text === '1' || text === '2') return text
  throw new ExitError('usage', `--format: must be 1 or 2, is ${visibleText(text)}`)
}

/** @throws ExitError `failed` for too many bytes, or if the connection ends early */
async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of response) {
      pieces.push(piece as Buffer)
      length += (piece as Buffer).length
      if (length > BUNDLE_BYTES_MAXIMUM) throw new Error('the answer is larger than a bundle may be')
    }
  } catch (error) {
    throw new ExitError('failed', `no proof bundle was received: ${(error as Error).message}`, { cause: error })
  }
  return Buffer.concat(pieces)
}
