/** The pages of shares: no scripts, no external resources, and every text escaped. */
import { createHash } from 'node:crypto'
import { PAGE_STYLE } from './style.ts'

const styleHash = createHash('sha256').update(PAGE_STYLE).digest('base64')

/** Content security policy of a page: its own style, and a form to its own origin. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The file shown on a page. */
interface ShownFile {
  readonly name: string
  readonly bytes: number
  readonly type: string
  /** RFC 3339 in UTC; undefined when the link does not expire. */
  readonly expires: string | undefined
  readonly downloadsLeft: number | undefined
  /** Address of the bytes, relative to the page. */
  readonly download: string
}

/** The page of a file. */
export function filePage({ name, bytes, type, expires, downloadsLeft, download }: ShownFile): string {
  const rows = [
    row('Size', sizeText(bytes)),
    row('Type', escapeHtml(type)),
    expires === undefined ? '' : row('Expires', timeElement(expires)),
    downloadsLeft === undefined ? '' : row('Downloads left', String(downloadsLeft)),
  ]
  return page(
    name,
    `<h1><bdi>${escapeHtml(name)}</bdi></h1>
<dl>
${rows.filter((one) => one !== '').join('\n')}
</dl>
<a class="action" href="${escapeHtml(download)}" download rel="noreferrer">Download</a>`,
  )
}

/** The page of a share that needs its password. @param action address that the form is sent to, relative to the page */
export function passwordPage(action: string, problem: string | undefined): string {
  const told = problem === undefined ? '' : `\n<p class="wrong" role="alert" id="problem">${escapeHtml(problem)}</p>`
  const described = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"'
  return page(
    'Shared file',
    `<h1>Shared file</h1>
<p>Whoever shared this file protected it with a password.</p>${told}
<form method="post" action="${escapeHtml(action)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="1024" autocomplete="off"${described}>
<button class="action" type="submit">Continue</button>
</form>`,
  )
}

/** A page with only a message. */
export function messagePage(message: string): string {
  return page('Shared file', `<h1>Shared file</h1>\n<p>${escapeHtml(message)}</p>`)
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
}

function row(term: string, html: string): string {
  return `<dt>${term}</dt><dd>${html}</dd>`
}

/** `31 January 2026, 12:00 UTC` for people, the exact time for programs. */
function timeElement(rfc3339: string): string {
  const date = new Date(rfc3339)
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return `<time datetime="${escapeHtml(rfc3339)}">${day}, ${rfc3339.slice(11, 16)} UTC</time>`
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `1.5 MiB (1,572,864 bytes)`; short sizes in bytes alone. */
function sizeText(bytes: number): string {
  const exact = `${bytes.toLocaleString('en')} ${bytes === 1 ? 'byte' : 'bytes'}`
  if (bytes < 1024) return exact
  const power = Math.min(UNITS.length, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power - 1]} (${exact})`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
