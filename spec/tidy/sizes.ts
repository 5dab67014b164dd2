/** Ratchets: no file, function or folder grows past what a reader holds in mind. They only ever go down. */
import { posix } from 'node:path'
import { type Finding, isProduction, type ProjectFile } from './project-files.ts'

export const FILE_LINES_MAXIMUM = 350
/** Source files beside each other in a folder of production. */
export const FOLDER_FILES_MAXIMUM = 22
/** It has a file for each operation of S3, each with the name of its operation. */
const LIST_OF_OPERATIONS = 'planes/s3/operations'
export const FUNCTION_LINES_MAXIMUM = 70
/** A case of a specification is a list of expectations, which is easier to read than code. */
export const CASE_LINES_MAXIMUM = 100

/** The last line of a function's head: an arrow or a list of parameters, then the opening brace. */
const HEAD_END = /(=>|\)(: .+)?) \{$/
const STATEMENT = /^\s*(\} )?(else )?(if|for|while|switch|catch)\b/

export function fileSizeFindings(file: ProjectFile): Finding[] {
  const count = file.lines.length - 1
  if (count <= FILE_LINES_MAXIMUM) return []
  const message = `${count} lines, at most ${FILE_LINES_MAXIMUM}; move a part with a name of its own to its own file`
  return [{ path: file.path, line: 0, message }]
}

/** Functions by the formatter's indentation: a body ends at the first brace that stands where its head began. */
export function functionSizeFindings(file: ProjectFile): Finding[] {
  const maximum = isProduction(file.path) ? FUNCTION_LINES_MAXIMUM : CASE_LINES_MAXIMUM
  return file.lines.flatMap((text, index) => {
    if (!HEAD_END.test(text) || STATEMENT.test(text)) return []
    const indentation = /^ */.exec(text)?.[0] ?? ''
    const length = file.lines.slice(index + 1).findIndex((line) => line.startsWith(`${indentation}}`)) + 2
    if (length <= maximum) return []
    const message = `a function of ${length} lines, at most ${maximum}; name its parts and make them functions`
    return [{ path: file.path, line: index + 1, message }]
  })
}

export function folderSizeFindings(files: readonly ProjectFile[]): Finding[] {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const folder = posix.dirname(path)
    if (isProduction(path) && folder !== LIST_OF_OPERATIONS) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([path, count]) => {
    if (count <= FOLDER_FILES_MAXIMUM) return []
    const advice = 'join what is a function of its only caller, or make a folder with a name that says what is in it'
    return [{ path, line: 0, message: `${count} files, at most ${FOLDER_FILES_MAXIMUM}; ${advice}` }]
  })
}
