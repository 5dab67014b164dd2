import { visibleText } from '../../terminal/visible-text.ts'

/** Words that need no quotes. */
const PLAIN = /^[\w.:/@{}*+%,-]+$/

/** Lines of the log, each one JSON object, as a person reads them: time, level, message, then the other fields. */
export function textLines(lines: string): string {
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : textLine(line)))
    .join('\n')
}

function textLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const clock = String(time).slice('2026-01-31T'.length)
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`)
  return `${clock} ${String(level).toUpperCase().padEnd(5)} ${messageText(msg)}${rest.join('')}${errorText(err)}`
}

/** A message is ours, but may contain text of a client: no control character reaches the terminal. */
function messageText(message: unknown): string {
  return visibleText(String(message ?? ''))
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return PLAIN.test(text) ? text : visibleText(JSON.stringify(value))
}

function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { stack, message } = error as { readonly stack?: unknown; readonly message?: unknown }
  const lines = String(stack ?? message ?? JSON.stringify(error)).split('\n')
  return lines.map((line) => `\n    ${visibleText(line.trim())}`).join('')
}
