import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'clipanion'
import type { CliContext } from '../cli-context.ts'
import { ExitError, exitTable } from '../exit-codes.ts'
import { saveFile } from '../terminal/save-file.ts'

/** Where the build puts the page. */
const PAGE = fileURLToPath(new URL('../../console-page/verify.html', import.meta.url))

export class ProofPageCommand extends Command<CliContext> {
  static override paths = [['proof', 'page']]

  static override usage = Command.Usage({
    category: 'Proofs',
    description: 'write a web page that checks files against proof bundles, offline',
    details: `
      One HTML file with everything in it: it loads nothing and sends nothing, which its content security policy enforces.
      It runs the code of proof verify in a browser, and reads the file in pieces. Keep it beside the bundles; like
      the public key, verifiers must get it over a channel they trust.

      The file appears under its name only when it is complete.
    `,
    examples: [['To keep with the bundles', '$0 proof page --output verify.html']],
  })

  output = Option.String('--output', { description: 'file to write the page to' })

  override async execute(): Promise<number> {
    const { output } = this
    if (output === undefined) throw new ExitError('usage', '--output is missing: the file to write the page to')
    saveFile(resolve(this.context.workingDirectory, output), pageBytes())
    this.context.stdout.write(`output  ${output}\n`)
    return exitTable.ok.code
  }
}

/** @throws ExitError `failed` when the console was not built */
function pageBytes(): Uint8Array {
  try {
    return readFileSync(PAGE)
  } catch (error) {
    throw new ExitError('failed', 'the page was not built: npm run build', { cause: error })
  }
}
