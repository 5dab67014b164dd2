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
