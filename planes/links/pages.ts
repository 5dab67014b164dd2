/** The pages of shares: no scripts, no external resources, and every text escaped. */
import { createHash } from 'node:crypto'

/** The style of the pages of shares: one column, readable at 320 px, in the reader's colour scheme. */
const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --sheet: #ffffff; --ink: #1b1f24; --quiet: #4f5965; --line: #c9d0d8;
  --accent: #0b57b0; --on-accent: #ffffff; --wrong: #a8201a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --sheet: #1d2126; --ink: #e8ebee; --quiet: #a9b3bd; --line: #3b434c;
    --accent: #8cc0ff; --on-accent: #0c1a2b; --wrong: #ff9f97;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
main {
  width: 100%; max-width: 30rem; padding: 1.5rem; background: var(--sheet);
  border: 1px solid var(--line); border-radius: 0.75rem;
}
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0 0 1.5rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; margin-bottom: 0.25rem; }
input {
  width: 100%; padding: 0.625rem; margin-bottom: 1rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--quiet); border-radius: 0.375rem;
}
.action {
  display: block; width: 100%; padding: 0.75rem 1rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: 0.375rem;
}
.action:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { color: var(--wrong); }
@media (max-width: 22rem) {
  main { padding: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
`

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
