import { resolve } from 'node:path'
import { Command, Option } from 'clipanion'
import {
  PROOF_LIMITS,
  type ProofReport,
  type ProofVerdict,
  statedBy,
  VERDICT_SENTENCES,
} from '../../engine/proof/proof-report.ts'
import { type FileDigest, PUBLIC_KEY_FORM, verifyBundle } from '../../engine/proof/verify-bundle.ts'
import type { CliContext } from '../cli-context.ts'
import { ExitError, type ExitName, exitTable } from '../exit-codes.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import { digestFile, readBundle } from '../terminal/read-file.ts'
import type { UnsignedBundle } from '../../engine/proof/bundle-types.ts'
import { textTable } from '../terminal/text-table.ts'
import { visibleText } from '../terminal/visible-text.ts'

const EXITS: Readonly<Record<ProofVerdict, ExitName>> = {
  verified: 'ok',
  failed: 'proofFailed',
  'not proved': 'notProved',
}

export class ProofVerifyCommand extends Command<CliContext> {
  static override paths = [['proof', 'verify']]

  static override usage = Command.Usage({
    category: 'Proofs',
    description: 'check a file against a proof bundle, offline',
    details: `
      Prints every check: passed, failed or not proved. It needs only the file and the bundle, and reads the file once.

      Do not take the public key from the bundle; the operator of the deployment, for example, prints it with proof
      public-key. Without it the signature only says that somebody signed.

      Ends with 0 if all required checks passed, with 8 if a check failed, and with 9 if none failed but a required one
      could not be made: without --public-key, or for a bundle of a newer format. Not required are a history that does not
      exist yet, links between records without neighbours, and anchors.
    `,
    examples: [
      ['With the key of the deployment', '$0 proof verify cat.png cat.proof.json --public-key 3b6a27bc…'],
      ['For a program', '$0 proof verify cat.png cat.proof.json --public-key 3b6a27bc… --json'],
    ],
  })

  file = Option.String({ name: 'file' })
  bundle = Option.String({ name: 'bundle' })
  publicKey = Option.String('--public-key', { description: 'public key of the deployment: 64 hexadecimal digits' })
  json = Option.Boolean('--json', false, { description: 'print one JSON object' })

  override async execute(): Promise<number> {
    const { publicKey } = this
    if (publicKey !== undefined && !PUBLIC_KEY_FORM.test(publicKey)) {
      throw new ExitError('usage', '--public-key takes 64 hexadecimal digits')
    }
    const { workingDirectory, stdout } = this.context
    const report = await verifyBundle(await readBundle(resolve(workingDirectory, this.bundle)), {
      digestFile: () => this.#digestFile(resolve(workingDirectory, this.file)),
      ...(publicKey === undefined ? {} : { expectedPublicKey: publicKey }),
    })
    const lines = this.json ? [proofReportAsJson(report)] : proofReportAsText(report)
    stdout.write(`${lines.join('\n')}\n`)
    return exitTable[EXITS[report.verdict]].code
  }

  async #digestFile(path: string): Promise<FileDigest> {
    const bar = new ProgressBar(this.context.stderr)
    try {
      return await digestFile(path, (bytes, size) =>
        bar.draw(bytes / Math.max(size, 1), `${Math.floor(bytes / 1024 ** 2).toLocaleString('en')} MiB`),
      )
    } finally {
      bar.clear()
    }
  }
}

/** The report as one line of JSON. `claims` is null if the bundle could not be read. */
function proofReportAsJson({ verdict, checks, claims }: ProofReport): string {
  return JSON.stringify({
    verdict,
    checks,
    claims: claims === undefined ? null : statedBy(claims),
    limits: PROOF_LIMITS,
  })
}

/** The report in lines for a person. The bundle is untrusted: its texts are made safe for the terminal. */
function proofReportAsText({ verdict, checks, claims }: ProofReport): string[] {
  const rows = checks.map(({ name, status, sentence }) => [status, name, visibleText(sentence)])
  const stated = claims === undefined ? [] : ['', 'The bundle states:', ...textTable(statedRows(claims))]
  return [VERDICT_SENTENCES[verdict], '', ...textTable(rows), ...stated, '', ...PROOF_LIMITS]
}

function statedRows(claims: UnsignedBundle): string[][] {
  return Object.entries(statedBy(claims)).map(([name, value]) => [`  ${name}`, visibleText(String(value))])
}
