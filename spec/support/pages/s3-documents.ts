/** The pages of spec/manual/s3 as the tables of the S3 plane say they must be. */
import { fileURLToPath } from 'node:url'
import { S3_ERRORS } from '../../../planes/s3/errors/s3-errors.ts'
import type { Level, Operation } from '../../../planes/s3/handling/operation.ts'
import { OPERATIONS } from '../../../planes/s3/operation-list.ts'
import { UNSUPPORTED_HEADERS } from '../../../planes/s3/unsupported-headers.ts'

const PATHS: Readonly<Record<Level, string>> = { service: '/', bucket: '/{bucket}', object: '/{bucket}/{key}' }

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map(tableLine).join('\n')
}

/** `GET /{bucket}?list-type=2`, or with `and x-amz-copy-source` behind it. */
function requestOf({ method, level, subresource, mark }: Operation): string {
  const query = subresource === undefined ? [] : [subresource]
  if (mark?.query !== undefined) query.push(mark.value === undefined ? mark.query : `${mark.query}=${mark.value}`)
  const text = `${method} ${PATHS[level]}${query.length === 0 ? '' : `?${query.join('&')}`}`
  return mark !== undefined && mark.query === undefined ? `\`${text}\` with \`${mark.header}\`` : `\`${text}\``
}

/** Whether the operation is carried out: always, never, or while an extension is on. */
export function servedText({ handle, extension, alsoIn }: Operation): string {
  if (handle === undefined) return 'no'
  return extension === undefined ? 'yes' : `with ${[extension, ...alsoIn].map((name) => `\`${name}\``).join(' or ')}`
}

function operationRow(row: Operation): string[] {
  const actions = row.versionAction === undefined ? [row.action] : [row.action, row.versionAction]
  return [
    row.name,
    requestOf(row),
    actions.map((action) => `\`${action}\``).join(', ') +
      (row.coveredBy === undefined ? '' : ` or \`${row.coveredBy}\``),
    row.accepts.map((name) => `\`${name}\``).join(', '),
    row.changes ? 'yes' : 'no',
    servedText(row),
  ]
}

export function operationsDocument(): string {
  const header = ['operation', 'request', 'action', 'also takes', 'changes', 'implemented']
  const headers = UNSUPPORTED_HEADERS.map(({ name, accepted = [], so, why, hint, extension }) => [
    `\`${name}\``,
    [
      ...accepted.map((value) => `\`${value}\``),
      ...(so === undefined ? [] : [`with \`bucket-reads\`: ${so.words}`]),
    ].join(', '),
    hint === undefined ? why : `${why}; ${hint}`,
    extension === undefined ? '' : `\`${extension}\``,
  ])
  return `# Operations of the S3 plane

Every operation of the S3 API, from the values in \`planes/s3/operations/\`; a spec compares the two. Where operations
share method, path and subresource, a further mark in the request decides: a query parameter of that name or value, or
a header. A request that no row fits is answered \`MethodNotAllowed\`. Query parameters that are not on this page are
ignored. An operation that is not implemented is answered \`NotImplemented\`, after its signature was checked, if it has
one. So is an operation that is implemented *with* an extension, while the setting \`s3.extensions\` does not name it. The
message says what to set at the client, if anything helps; the log line of the request, and its record unless it was
unsigned, have the message as \`reason\` and the header or query parameter as \`refused\`.

*Action* is what a policy grants or denies; the one after a comma counts when the request names a version, the one after
*or* grants the same. A write or deletion with an ETag in \`If-Match\` or \`If-None-Match\` needs \`s3:GetObject\` too.
A copy needs \`s3:GetObject\` on its source, a rename that and \`s3:DeleteObject\`.
The header \`x-amz-tagging\` needs \`s3:PutObjectTagging\`, and a copy that keeps tags \`s3:GetObjectTagging\` on its source
as well (\`s3:GetObjectVersionTagging\` where it names a version).
GetObjectAttributes needs \`s3:GetObject\` too. A query
parameter that occurs twice is refused. An operation that
changes something leaves two records in the journal, an attempt and an outcome; any other leaves one.

${table(header, OPERATIONS.map(operationRow))}

## Headers that are refused

From the table in \`planes/s3/unsupported-headers.ts\`. A request with one of them is answered \`NotImplemented\`, also when
a presigned URL has it as a query parameter. A value that asks for what the store does anyway is accepted. With its extension
on, a header is accepted by the operations that do what it asks for.

${table(['header', 'accepted values', 'why it is refused', 'extension'], headers)}
`
}

export function errorsDocument(): string {
  const rows = Object.entries(S3_ERRORS).map(([code, { status, message }]) => [`\`${code}\``, String(status), message])
  return `# Errors of the S3 plane

Every error code that the S3 plane answers with, from the table in \`planes/s3/errors/s3-errors.ts\`; a spec compares the two. The
message is for the general case: where more is known, a more exact one takes its place. An answer to HEAD has the
status alone.

The document is \`<Error>\` without a namespace: \`Code\`, \`Message\`, what the error is about (\`Key\`, \`BucketName\`,
\`ArgumentName\` and so on), \`Resource\` (the path of the request), \`RequestId\` (the id in the header \`x-amz-request-id\`
and of the records in the journal), \`HostId\`.

${table(['code', 'status', 'message'], rows)}
`
}

/** Where the pages are, and what makes them. */
export const S3_DOCUMENTS: readonly { readonly path: string; readonly text: () => string }[] = [
  { path: pageAt('operations.md'), text: operationsDocument },
  { path: pageAt('errors.md'), text: errorsDocument },
]

function pageAt(name: string): string {
  return fileURLToPath(new URL(`../../../../spec/manual/s3/${name}`, import.meta.url))
}
