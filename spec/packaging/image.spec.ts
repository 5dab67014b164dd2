/** The image of cli/packaging/Containerfile, built and run by buildah; needs root. See image.sh. */
import { rmSync } from 'node:fs'
import tap, { test } from 'tap'
import { temporaryDirectory } from '../support/test-clients.ts'
import { packedInto, runs } from './installed.ts'

const place = temporaryDirectory()
tap.teardown(() => rmSync(place, { recursive: true }))

test('the image is built, and a container of it keeps an object', async (t) => {
  const packed = await packedInto(place)
  const unshared = ['--mount', '--pid', '--net', '--fork', '--kill-child']
  t.match(await runs('.', 'unshare', ...unshared, 'spec/packaging/image.sh', packed, place), /^the image works\n$/m)
})
