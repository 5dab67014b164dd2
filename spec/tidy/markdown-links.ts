/** Links of the pages, followed. */
import { dirname, join } from 'node:path'
import type { Finding, ProjectFile } from './project-files.ts'

const LINK = /\]\((?<target>[^)\s]+)\)/g

/** The anchor of a heading, the way the usual viewers make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function anchorsOf(file: ProjectFile): string[] {
  return file.lines.filter((line) => /^#+ /.test(line)).map((line) => anchorOf(line.replace(/^#+ /, '')))
}

/**
 * Relative links that lead nowhere.
 * @param paths of every file; a link may also lead to a folder
 */
export function linkFindings(pages: readonly ProjectFile[], paths: readonly string[]): Finding[] {
  const pagesByPath = new Map(pages.map((page) => [page.path, page]))
  return pages.flatMap((page) =>
    page.lines.flatMap((text, index) =>
      [...text.matchAll(LINK)].flatMap((match) => {
        const target = match.groups?.['target'] ?? ''
        if (/^[a-z]+:/.test(target)) return []
        const [path = '', anchor] = target.split('#')
        const place = path === '' ? page.path : join(dirname(page.path), path)
        const found = { path: page.path, line: index + 1 }
        if (!paths.some((known) => known === place || known.startsWith(`${place.replace(/\/$/, '')}/`))) {
          return [{ ...found, message: `links to ${place}, which is not there; link to what took its place` }]
        }
        const there = pagesByPath.get(place)
        if (anchor === undefined || there === undefined || anchorsOf(there).includes(anchor)) return []
        return [{ ...found, message: `links to a heading "${anchor}" that ${place} does not have` }]
      }),
    ),
  )
}
