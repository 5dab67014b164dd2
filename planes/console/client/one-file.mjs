// Puts the script and the styles of a page into the page, which then is one file that asks for nothing.
import { createHash } from 'node:crypto'

function sourceOf(hash, text) {
  return `'sha256-${hash.update(text).digest('base64')}'`
}

/** Nothing but this script and these styles, by their hashes: whoever alters them breaks the page. */
function policyOf(script, style) {
  return [
    "default-src 'none'",
    `script-src ${sourceOf(createHash('sha256'), script)}`,
    `style-src ${sourceOf(createHash('sha256'), style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** What would end the element that it is in. */
function requireInlinable(text, end) {
  if (text.includes('<!--') || text.toLowerCase().includes(end)) throw new Error(`the bundle holds ${end} or <!--`)
}

/** Vite's plugin: of the bundle one page is left. */
export function oneFile() {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const outputs = Object.values(bundle)
      const page = outputs.find(({ fileName }) => fileName.endsWith('.html'))
      const script = textOf(outputs, '.js')
      const style = textOf(outputs, '.css')
      requireInlinable(script, '</script')
      requireInlinable(style, '</style')
      const bare = String(page.source)
        .replaceAll(/^\s*<(?:script|link rel="(?:stylesheet|modulepreload)")[^>]*>(?:<\/script>)?\n/gm, '')
        .replace(
          '<head>',
          () => `<head>\n    <meta http-equiv="content-security-policy" content="${policyOf(script, style)}" />`,
        )
      if (/<(?:script|style)|(?:src|href)="(?!data:,")/.test(bare))
        throw new Error(`the page asks for a file:\n${bare}`)
      page.source = bare.replace(
        '</head>',
        () => `  <style>${style}</style>\n    <script type="module">${script}</script>\n  </head>`,
      )
      for (const { fileName } of outputs) if (fileName !== page.fileName) delete bundle[fileName]
    },
  }
}

function textOf(outputs, ending) {
  const found = outputs.filter(({ fileName }) => fileName.endsWith(ending))
  if (found.length !== 1) throw new Error(`${found.length} files end with ${ending}, and one is expected`)
  return String(found[0].code ?? found[0].source)
}
