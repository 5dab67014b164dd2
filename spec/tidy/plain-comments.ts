/** Words that stand in comments where a noun or a plain verb is missing (`spec/style.md`). */
import type { Finding, ProjectFile } from './project-files.ts'

const VAGUE =
  /\b(?:nobody|somebody|whoever|those of|that of|one that|begins|beside|told|so many|goes on|is none|anew)\b/gi
const COMMENT = /(?:^\s*(?:\{?\/\*+|\*|\/\/)|\S \/\/) ?(.*)$/

/** One finding a comment's line with such a word; a phrase over the end of a line is found as well. */
export function vagueFindings(file: ProjectFile): Finding[] {
  if (!/^(?:engine|projections|planes|workers|cli|bench)\/.*\.tsx?$/.test(file.path)) return []
  const comments = file.lines.map((line) => COMMENT.exec(line)?.[1] ?? '')
  return comments.flatMap((comment, index) => {
    const next = comments[index + 1] ?? ''
    const found = Array.from(`${comment} ${next}`.matchAll(VAGUE)).filter((match) => match.index < comment.length)
    return found.map(([word]) => ({
      path: file.path,
      line: index + 1,
      message: `"${word}" in a comment: name the thing, or use a plainer verb; see spec/style.md`,
    }))
  })
}
