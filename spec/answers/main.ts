/** Records the answers of a checkout, and holds one recording against another. README.md says how. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Block } from './block.ts'
import { BLOCKS } from './blocks.ts'
import { recordCommands } from './commands/record-commands.ts'
import { compare, differenceText, wholeText, withoutLibrary, withoutMeant } from './comparison.ts'
import { ON_PURPOSE } from './on-purpose.ts'
import { record } from './record.ts'
import { readRecording, writeRecording } from './recording.ts'
import { summary } from './summary.ts'

const USAGE = `record --checkout DIR --output FILE [--block NAME]...
record-commands --checkout DIR --output FILE
compare OLD NEW
drivers UWS NODE
summary FILE
`

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function recordInto(words: readonly string[], what: 'answers' | 'commands'): Promise<number> {
  const { values } = parseArgs({
    args: [...words],
    options: { checkout: { type: 'string' }, output: { type: 'string' }, block: { type: 'string', multiple: true } },
  })
  const { checkout, output, block } = values
  if (checkout === undefined || output === undefined) return usage()
  const blocks = block?.map(blockNamed) ?? BLOCKS
  const root = resolve(checkout)
  const exchanges = what === 'commands' ? await recordCommands(root, say) : await record(root, blocks, say)
  writeRecording(output, exchanges)
  say(`${exchanges.length} requests`)
  return 0
}

function blockNamed(name: string): Block {
  const found = BLOCKS.find((block) => block.name === name)
  if (found === undefined) throw new Error(`no block is called ${name}`)
  return found
}

function compareFiles([old, young]: readonly string[]): number {
  if (old === undefined || young === undefined) return usage()
  const all = compare(readRecording(old), readRecording(young))
  const left = withoutMeant(all, ON_PURPOSE)
  for (const difference of left) say(differenceText(difference))
  const count = left.reduce((sum, { asks }) => sum + asks.length, 0)
  say(`${count} differences of ${left.length} shapes; ${all.length - left.length} shapes are on purpose`)
  return left.length === 0 ? 0 : 1
}

/** Prints what differs between recordings over the two HTTP drivers. */
function compareDrivers([uws, node]: readonly string[]): number {
  if (uws === undefined || node === undefined) return usage()
  const all = compare(withoutLibrary(readRecording(uws)), withoutLibrary(readRecording(node)))
  process.stdout.write(wholeText(withoutMeant(all, ON_PURPOSE)))
  return 0
}

function usage(): number {
  process.stderr.write(USAGE)
  return 2
}

const [command = '', ...words] = process.argv.slice(2)
if (command === 'record') process.exitCode = await recordInto(words, 'answers')
else if (command === 'record-commands') process.exitCode = await recordInto(words, 'commands')
else if (command === 'compare') process.exitCode = compareFiles(words)
else if (command === 'drivers') process.exitCode = compareDrivers(words)
else if (command === 'summary' && words[0] !== undefined) say(summary(readRecording(words[0])))
else process.exitCode = usage()
