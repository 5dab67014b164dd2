/** A form of a page in a real browser, which sends a file into a bucket and is redirected. */
import { test } from 'tap'
import { signedFields, type Field } from '../support/post-forms.ts'
import { withConsole } from './open-console.ts'

const BUCKET = 'forms'
const FILE = { name: 'a "ü" file.txt', mimeType: 'text/plain', buffer: Buffer.from('bytes from a browser') }

function inputsOf(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('')
}

await withConsole(
  ({ server, open }) => {
    test('a form that is submitted writes its file, and the browser is redirected', async (t) => {
      await server.raw('PUT', `/${BUCKET}`)
      const { page } = await open(t)
      const target = `${server.endpoint}/${BUCKET}`
      const redirect: Field = ['success_action_redirect', `${server.endpoint}/done`]
      const conditions = [['starts-with', '$key', 'dir/']]
      const fields = signedFields({
        bucket: BUCKET,
        fields: [redirect],
        uncovered: [['key', 'dir/${filename}']],
        conditions,
      })
      await page.goto('about:blank')
      await page.setContent(
        `<form action="${target}" method="post" enctype="multipart/form-data">${inputsOf(fields)}` +
          '<input type="file" name="file"><input type="submit" name="submit" value="send"></form>',
      )
      await page.locator('input[type=file]').setInputFiles(FILE)
      await page.locator('input[type=submit]').click()
      await page.waitForURL(/\/done\?/)
      const { searchParams } = new URL(page.url())
      const key = searchParams.get('key') ?? ''
      // Browsers write a quote in the name of a file as %22 (HTML standard, multipart/form-data).
      t.equal(key, 'dir/a %22ü%22 file.txt')
      t.equal(searchParams.get('bucket'), BUCKET)
      const got = await server.raw('GET', `/${BUCKET}/${encodeURIComponent(key)}`)
      t.equal(got.text, 'bytes from a browser')
      t.equal(got.headers.etag, searchParams.get('etag'))
    })
  },
  { OBJECT_STORE_S3_EXTENSIONS: 'post-object' },
)
