/** The form of decision records, so that what is found first by a search says whether it still holds. */
import { basename } from 'node:path'
import type { Finding, ProjectFile } from './project-files.ts'

const LINK = String.raw`\[(\d{4})\]\((\d{4})-[\w-]+\.md\)`
const PART = String.raw`[^;[]+ superseded by ${LINK}`
const STATUS = new RegExp(`^Status: (accepted(; ${PART})*|superseded by ${LINK})$`)
/** What a record says when it changes an earlier one. */
const CHANGES = /\b(?:replaces|supersedes)(?: decision)? \[?(?<number>\d{4})/gi

function numberOf(record: ProjectFile): string {
  return basename(record.path).slice(0, 4)
}

/** Titles, statuses, and marks of earlier records that a later one changes. */
export function recordFindings(records: readonly ProjectFile[]): Finding[] {
  const byNumber = new Map(records.map((record) => [numberOf(record), record]))
  return records.flatMap((record) => {
    const { path, lines } = record
    const number = numberOf(record)
    const found: Finding[] = []
    if (!lines[0]?.startsWith(`# ${number} `)) found.push({ path, line: 1, message: `begins with "# ${number} Title"` })
    if (!STATUS.test(lines[2] ?? '')) {
      const forms =
        '"Status: accepted", "Status: superseded by [NNNN](file.md)" or "Status: accepted; WHAT superseded by [NNNN](file.md)"'
      found.push({ path, line: 3, message: `needs one of ${forms} under its title` })
    }
    for (const [index, text] of lines.entries()) {
      for (const match of text.matchAll(CHANGES)) {
        const earlier = match.groups?.['number'] ?? ''
        if (earlier === number || byNumber.get(earlier)?.lines[2]?.includes(`superseded by [${number}]`)) continue
        found.push({ path, line: index + 1, message: `changes ${earlier}, whose status does not name ${number}` })
      }
    }
    return found
  })
}

/** What of the status an index has to repeat. */
function markOf(record: ProjectFile): string {
  const status = record.lines[2]?.slice('Status: '.length) ?? ''
  return status === 'accepted' ? '' : `: ${status.replace(/^accepted; /, '')}`
}

/** Records that the index leaves out, lists twice, or lists without what became of them. */
export function indexFindings(index: ProjectFile, records: readonly ProjectFile[]): Finding[] {
  const findings = records.flatMap((record): Finding[] => {
    const name = basename(record.path)
    const rows = index.lines.flatMap((text, at) => (text.startsWith('- [') && text.includes(`](${name})`) ? [at] : []))
    const own = rows.filter((at) => index.lines[at]?.startsWith(`- [${numberOf(record)} `))
    const expected = `- [${record.lines[0]?.slice(2) ?? ''}](${name})${markOf(record)}`
    if (own.length !== 1) return [{ path: index.path, line: 0, message: `lists ${name} ${own.length} times, not once` }]
    const [at = 0] = own
    return index.lines[at] === expected ? [] : [{ path: index.path, line: at + 1, message: `should be "${expected}"` }]
  })
  return findings
}

/** How code and pages name records: by path, or by one or more numbers after the word. */
const NAMED = /decisions?[ /](?<numbers>\d{4}(?:(?:, | and )\d{4})*)\b/gi

/** Places that name a record that is not there, for example because it became a section of another. */
export function namedRecordFindings(files: readonly ProjectFile[], records: readonly ProjectFile[]): Finding[] {
  const known = new Set(records.map(numberOf))
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((text, index) =>
      [...text.matchAll(NAMED)].flatMap((match) =>
        (match.groups?.['numbers'] ?? '')
          .split(/, | and /)
          .filter((number) => !known.has(number))
          .map((number) => ({ path, line: index + 1, message: `names decision ${number}, which is not there` })),
      ),
    ),
  )
}

/** Sections say in parentheses under which number they were decided; a number has one page, or one that begins with it. */
export function sectionFindings(records: readonly ProjectFile[]): Finding[] {
  const homes = new Map(records.map((record) => [numberOf(record), record.path]))
  return records.flatMap((record) =>
    record.lines.flatMap((text, index) => {
      const numbers = /^## .* \((?<numbers>\d{4}(?:, \d{4})*)\)$/.exec(text)?.groups?.['numbers']?.split(', ') ?? []
      return numbers.flatMap((number, place) => {
        const home = homes.get(number)
        if (home === undefined || home === record.path) {
          homes.set(number, record.path)
          return []
        }
        // A section may name a second number for the part of another section that it holds.
        return place > 0 ? [] : [{ path: record.path, line: index + 1, message: `${number} is in ${home} already` }]
      })
    }),
  )
}
