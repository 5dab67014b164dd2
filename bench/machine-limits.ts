import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from '../engine/hashing/crc32.ts'
import type { DiskFile } from '../engine/disk/disk.ts'
import { nodeDisk } from '../engine/disk/node-disk.ts'
import type { Bench } from './bench.ts'
import { ended } from './children.ts'
import type { LimitName, MachineLimit, Unit } from './figure.ts'
import { runWrk, writeLoad } from './wrk.ts'

const MEBIBYTE = 1024 ** 2
const APPEND_BYTES = 4096
const HTTP_CONNECTIONS = 32
const BARE_SERVER = fileURLToPath(new URL('./bare-http-server.js', import.meta.url))
const START_TIMEOUT_MILLISECONDS = 10_000

/**
 * Limits of the machine, measured in the same run and on the same disk as the figures, which only have meaning relative
 * to them.
 */
export async function measureMachineLimits(bench: Bench): Promise<MachineLimit[]> {
  const { quick } = bench.settings
  const milliseconds = quick ? 200 : 1000
  const file = join(bench.directory, 'limits.bin')
  const appendBytes = (quick ? 1 : 16) * MEBIBYTE
  const readBytes = (quick ? 32 : 256) * MEBIBYTE
  const writeBytes = (quick ? 64 : 1024) * MEBIBYTE
  const preallocated = withFile(file, (it) => appendRate(it, appendBytes, milliseconds, true))
  const growing = withFile(file, (it) => appendRate(it, appendBytes, milliseconds, false))
  const http = await bareHttpRate(bench)
  return [
    limit('http', '4 KiB answers of the bare HTTP library', http, 'per second'),
    limit('sync-preallocated', '4 KiB written into a file with room, fdatasync', preallocated, 'per second'),
    limit('sync-growing', '4 KiB appended to a growing file, fdatasync', growing, 'per second'),
    limit('md5', 'MD5', hashRate('md5', milliseconds), 'MiB/s'),
    limit('sha256', 'SHA-256', hashRate('sha256', milliseconds), 'MiB/s'),
    limit('crc32', 'CRC-32', blockRate(milliseconds, crc32), 'MiB/s'),
    limit('page-cache-read', 'reading a file from the page cache', readRate(file, readBytes, milliseconds), 'MiB/s'),
    limit('disk-write', 'writing a file in sequence, fdatasync', writeRate(file, writeBytes), 'MiB/s'),
  ]
}

function limit(name: LimitName, label: string, value: number, unit: Unit): MachineLimit {
  return { name, label, value, unit }
}

/** Requests per second that the HTTP library answers in one thread, next to the load generator. */
async function bareHttpRate(bench: Bench): Promise<number> {
  const child = bench.children.start(process.execPath, [BARE_SERVER], { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the bare server did not start')), START_TIMEOUT_MILLISECONDS)
      child.once('exit', (exitCode) => reject(new Error(`the bare server ended with ${exitCode}`)))
      child.stdout?.once('data', (chunk: Buffer) => {
        clearTimeout(timer)
        resolve(Number(chunk.toString('latin1')))
      })
    })
    const endpoint = { url: `http://127.0.0.1:${port}`, accessKey: 'none', secretKey: 'none', region: 'none' }
    const load = writeLoad(bench.directory, endpoint, {
      requests: [{ method: 'GET', path: '/bucket/key' }],
      body: Buffer.alloc(0),
      order: 'cycle',
      rateBy: 'time',
      answerBytesMinimum: APPEND_BYTES,
    })
    const seconds = Math.min(bench.settings.seconds, 4)
    const result = await runWrk(bench.children, { url: endpoint.url, connections: HTTP_CONNECTIONS, seconds, load })
    return result.requestsPerSecond
  } finally {
    child.stdin?.end()
    await ended(child, START_TIMEOUT_MILLISECONDS)
  }
}

function withFile<T>(path: string, work: (file: DiskFile) => T): T {
  const file = nodeDisk.create(path)
  try {
    return work(file)
  } finally {
    file.close()
    rmSync(path)
  }
}

/** Writes of 4 KiB, each with its own sync, per second; over a file of zeros or after the end of an empty one. */
function appendRate(file: DiskFile, bytes: number, milliseconds: number, preallocated: boolean): number {
  const block = randomBytes(APPEND_BYTES)
  if (preallocated) file.writeAt(Buffer.alloc(bytes), 0)
  file.sync()
  const places = bytes / APPEND_BYTES
  return perSecond(milliseconds, (count) => {
    file.writeAt(block, (preallocated ? count % places : count) * APPEND_BYTES)
    file.sync()
  })
}

/** MiB per second of a hash that reads a long body in blocks. */
function hashRate(algorithm: string, milliseconds: number): number {
  const hash = createHash(algorithm)
  return blockRate(milliseconds, (block) => hash.update(block))
}

function blockRate(milliseconds: number, work: (block: Buffer) => unknown): number {
  const block = randomBytes(MEBIBYTE)
  return perSecond(milliseconds, () => work(block))
}

/** MiB per second when the same file is read again and again. */
function readRate(path: string, bytes: number, milliseconds: number): number {
  return withFile(path, (file) => {
    const block = randomBytes(MEBIBYTE)
    const blocks = bytes / MEBIBYTE
    for (let place = 0; place < blocks; place += 1) file.writeAt(block, place * MEBIBYTE)
    return perSecond(milliseconds, (count) => file.readAt(block, (count % blocks) * MEBIBYTE, MEBIBYTE))
  })
}

/** MiB per second from the first write to the end of the one sync that follows the last. */
function writeRate(path: string, bytes: number): number {
  return withFile(path, (file) => {
    const block = randomBytes(MEBIBYTE)
    const started = performance.now()
    for (let position = 0; position < bytes; position += MEBIBYTE) file.writeAt(block, position)
    file.sync()
    return bytes / MEBIBYTE / ((performance.now() - started) / 1000)
  })
}

/** How often `work` is done in a second. It gets the number of times it was done before. */
function perSecond(milliseconds: number, work: (count: number) => unknown): number {
  const started = performance.now()
  let count = 0
  let elapsed = 0
  while (elapsed < milliseconds) {
    work(count)
    count += 1
    elapsed = performance.now() - started
  }
  return count / (elapsed / 1000)
}
