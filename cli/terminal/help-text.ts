import type { ColorFormat, Definition } from 'clipanion'
import { exitTable } from '../exit-codes.ts'
import { textTable } from './text-table.ts'

const INDENT = '  '

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `${INDENT}${line}`.trimEnd())
}

/** The help without a command: every command with its sentence, and the exit codes. */
export function overviewHelp(definitions: readonly Definition[], version: string, format: ColorFormat): string {
  const categories = new Map<string, string[][]>()
  for (const { path, category = 'Other', description = '' } of definitions) {
    const rows = categories.get(category.trim()) ?? []
    categories.set(category.trim(), [...rows, [path, description.trim()]])
  }
  const codes = Object.values(exitTable).map(({ code, sentence }) => [String(code), sentence])
  // One table over all categories, so that the sentences are aligned.
  const commandLines = textTable([...categories.values()].flat())
  const lines = [format.header(`Object Store ${version}`), '', 'Start with: object-store quickstart', '']
  for (const [category, rows] of categories) {
    lines.push(format.header(category), '', ...indented(commandLines.splice(0, rows.length)), '')
  }
  lines.push('Run "object-store <command> --help" for more about a command.', '')
  lines.push(format.header('Exit codes'), '', ...indented(textTable(codes)), '')
  return lines.join('\n')
}

/** Help on commands that begin with the same word: each with its sentence. */
export function groupHelp(word: string, definitions: readonly Definition[], format: ColorFormat): string {
  const rows = definitions.map(({ path, description = '' }) => [path, description.trim()])
  const last = `Run "object-store ${word} <command> --help" for more about a command.`
  return [format.header(`Commands of ${word}`), '', ...indented(textTable(rows)), '', last, ''].join('\n')
}

/** Help on one command. */
export function commandHelp(definition: Definition, format: ColorFormat): string {
  const { description = '', details = '', examples = [], options } = definition
  const rows = options.map((option) => [
    option.definition.replaceAll(/#\d+/g, '<value>'),
    (option.description ?? '').trim(),
  ])
  const lines = [description.trim(), '', format.header('Usage'), '']
  lines.push(`${INDENT}${definition.usage}${rows.length > 0 ? ' [options]' : ''}`, '')
  if (examples.length > 0) lines.push(format.header('Examples'), '')
  for (const [label, commandLine] of examples) lines.push(`${INDENT}# ${label.trim()}`, `${INDENT}${commandLine}`, '')
  if (rows.length > 0) lines.push(format.header('Options'), '', ...indented(textTable(rows)), '')
  if (details.trim() !== '') lines.push(format.header('Details'), '', ...indented(details.trim().split('\n')), '')
  return lines.join('\n')
}
