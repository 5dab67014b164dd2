/** A ratchet on the comments' English: words that stand where a noun or a plain verb is missing (`spec/style.md`). */
import type { Finding, ProjectFile } from './project-files.ts'

const VAGUE =
  /\b(?:nobody|somebody|whoever|those of|that of|one that|begins|beside|told|so many|goes on|is none|anew)\b/gi

/** How many are in the comments of each folder. Numbers only fall: lower them in the commit that lowers the count. */
const ALLOWED: Readonly<Record<string, number>> = {
  engine: 1,
  projections: 0,
  workers: 0,
  cli: 1,
  bench: 0,
  // The planes.
  planes: 5,
}

/** A constant that is this far above the count has room for new ones. */
const SLACK = 20

/** Comments of a file as one text, so that a phrase over the end of a line is found. */
function commentText(file: ProjectFile): string {
  return file.lines.flatMap((line) => /(?:^\s*(?:\{?\/\*+|\*|\/\/)|\S \/\/) ?(.*)$/.exec(line)?.[1] ?? []).join(' ')
}

export function vagueWords(file: ProjectFile): string[] {
  return commentText(file).match(VAGUE) ?? []
}

/** Breaches of the ratchet over `files`, one a folder. */
export function vagueFindings(files: readonly ProjectFile[], allowed = ALLOWED): Finding[] {
  return Object.entries(allowed).flatMap(([folder, maximum]) => {
    const inside = files.filter(({ path }) => path.startsWith(`${folder}/`) && /\.tsx?$/.test(path))
    const count = inside.flatMap(vagueWords).length
    const finding = (message: string) => [{ path: folder, line: 0, message }]
    if (count > maximum)
      return finding(`${count} vague words in comments, ${maximum} allowed: name the thing, see spec/style.md`)
    if (count < maximum - SLACK) return finding(`${count} vague words in comments: lower ${maximum} to that`)
    return []
  })
}
