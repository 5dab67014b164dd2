/** What a browser has to load for the console. */
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { test } from 'tap'

const ASSETS = 'build/console/assets'

/** Bytes by gzip of all files with an ending. */
function zippedBytes(ending: string): number {
  const names = readdirSync(ASSETS).filter((name) => name.endsWith(ending))
  return names.reduce((sum, name) => sum + gzipSync(readFileSync(`${ASSETS}/${name}`), { level: 9 }).length, 0)
}

test('scripts and styles stay small', async (t) => {
  const [scripts, styles] = [zippedBytes('.js'), zippedBytes('.css')]
  t.ok(scripts > 0 && scripts <= 80 * 1024, `${scripts} bytes of scripts`)
  t.ok(styles > 0 && styles <= 15 * 1024, `${styles} bytes of styles`)
})

test('the page asks for nothing but its own files, and has no script or style in it', async (t) => {
  const page = readFileSync('build/console/index.html', 'utf8')
  const addresses = [...page.matchAll(/(?:src|href)="(?<address>[^"]*)"/g)].map(
    ({ groups }) => groups?.['address'] ?? '',
  )
  t.ok(addresses.length >= 3)
  for (const address of addresses) t.match(address, /^\.\/assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg)$/)
  t.notMatch(page, /<script(?![^>]*src=)|<style|style=| on\w+=/)
})
