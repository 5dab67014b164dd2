/**
 * The registry of images of Debian (distribution 2.8) with its images in the store, and skopeo, which pushes, pulls and deletes
 * one; then the registry collects what nothing refers to. Over HTTP, with its defaults: in `strict`, where it cannot push, and
 * in `compatible`. TLS it speaks with authorities of the machine only.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'tap'
import { freePort } from '../support/free-port.ts'
import { sampleBytes } from '../support/sample-bytes.ts'
import { temporaryDirectory } from '../support/test-server.ts'
import { succeeds } from './aws-command.ts'
import { startAll, type Target } from './both-servers.ts'
import { programs, run } from './client-programs.ts'

const LOOKS_MAXIMUM = 500
const place = temporaryDirectory()
const [registry] = await programs('docker-registry', ['--version'])
const [skopeo] = await programs('skopeo', ['--version'])
if (registry === undefined || skopeo === undefined) throw new Error('docker-registry and skopeo are not installed')
const all = await startAll()

function text(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** An image of one layer of 12 MB in a layout of the Open Container Initiative. */
function writeImage(directory: string): void {
  mkdirSync(join(directory, 'blobs', 'sha256'), { recursive: true })
  const blob = (mediaType: string, bytes: Buffer) => {
    const hex = createHash('sha256').update(bytes).digest('hex')
    writeFileSync(join(directory, 'blobs', 'sha256', hex), bytes)
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length }
  }
  const kind = 'application/vnd.oci.image'
  const bytes = sampleBytes(12_000_000)
  // What is not compressed, skopeo compresses on the way.
  const layer = blob(`${kind}.layer.v1.tar+gzip`, gzipSync(bytes))
  const whole = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const config = blob(
    `${kind}.config.v1+json`,
    text({ architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [whole] } }),
  )
  const manifest = blob(
    `${kind}.manifest.v1+json`,
    text({ schemaVersion: 2, mediaType: `${kind}.manifest.v1+json`, config, layers: [layer] }),
  )
  writeFileSync(join(directory, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(directory, 'index.json'), text({ schemaVersion: 2, manifests: [manifest] }))
}

function settingsOf({ endpoint, accessKey, secretKey }: Target, port: number): string {
  return `version: 0.1
log: {level: error}
storage:
  delete: {enabled: true}
  s3:
    region: us-east-1
    regionendpoint: ${endpoint}
    bucket: registry
    accesskey: ${accessKey}
    secretkey: ${secretKey}
    secure: false
http: {addr: '127.0.0.1:${port}'}
`
}

async function answers(address: string): Promise<boolean> {
  for (let look = 0; look < LOOKS_MAXIMUM; look += 1) {
    const answer = await fetch(address).catch(() => undefined)
    if (answer?.ok === true) return true
    await pause(20)
  }
  return false
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

writeImage(join(place, 'image'))
for (const target of all.targets.filter(({ authority }) => authority === undefined)) {
  test(`a registry over ${target.name}`, async (t) => {
    await target.makeBucket('registry')
    const port = await freePort()
    const settings = join(place, `registry-${target.extended}.yml`)
    writeFileSync(settings, settingsOf(target, port))
    const child = spawn(registry.path, ['serve', settings], { stdio: 'ignore', env: {} })
    t.ok(await answers(`http://127.0.0.1:${port}/v2/`), 'it listens')
    const image = `docker://127.0.0.1:${port}/an/image:one`
    const push = ['--insecure-policy', 'copy', '--dest-tls-verify=false', 'oci:image', image]
    const pushed = await run(skopeo.path, push, { directory: place })
    if (!target.extended) {
      t.not(pushed.code, 0, 'without listing of version 1 nothing is pushed')
      return void (await ended(child))
    }
    t.equal(pushed.code, 0, 'push', { stderr: pushed.stderr })
    const pull = ['--insecure-policy', 'copy', '--src-tls-verify=false', image, 'oci:back']
    await succeeds(t, run(skopeo.path, pull, { directory: place }), 'pull')
    const blobs = join(place, 'back', 'blobs', 'sha256')
    for (const name of readdirSync(blobs)) {
      t.equal(
        createHash('sha256')
          .update(readFileSync(join(blobs, name)))
          .digest('hex'),
        name,
        'a blob',
      )
    }
    t.same(readdirSync(blobs), readdirSync(join(place, 'image', 'blobs', 'sha256')), 'all of them')
    const remove = ['--insecure-policy', 'delete', '--tls-verify=false', image]
    await succeeds(t, run(skopeo.path, remove, { directory: place }), 'delete')
    await ended(child)
    await succeeds(t, run(registry.path, ['garbage-collect', settings]), 'garbage-collect')
    const left = (await target.heldBy('registry')).filter((key) => /\/blobs\/sha256\/.*\/data$/.test(key))
    t.same(left, [], 'no blob is left')
    t.same(await target.openUploads('registry'), [], 'no upload is left open')
  })
}

test('end', async () => {
  await all.stop()
  rmSync(place, { recursive: true })
})
