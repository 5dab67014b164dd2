/** Bytes on the disk that somebody altered together with their checksum are never served as those that were stored. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeDisk } from '../../../engine/disk/node-disk.ts'
import { StorePaths } from '../../../engine/disk/store-paths.ts'
import { alteredWithSameChecksum } from '../../support/journals/forged-checksum.ts'
import { BUCKET, KEY, OTHER_BUCKET } from './arena.ts'
import type { Assault } from './assault.ts'

const AREA = 'altered payloads'
/** Objects that the maker of the store put there, not encrypted. */
const OBJECTS: readonly (readonly [bucket: string, key: string, bytes: string])[] = [
  [BUCKET, KEY, `bytes of ${KEY}`],
  [BUCKET, 'source', 'bytes of source'],
  [OTHER_BUCKET, KEY, 'bytes of another bucket'],
]
const RANGES = [undefined, 'bytes=0-', 'bytes=0-3', 'bytes=-5'] as const

/** Alters one object after the other in its volume, reads it in every way, and puts it back. */
export async function attackPayloads({ arena, ledger }: Assault): Promise<string> {
  const { server } = arena
  const paths = new StorePaths(server.dataDirectory)
  let altered = 0
  for (const [bucket, key, bytes] of OBJECTS) {
    const stored = placeOf(paths, Buffer.from(bytes))
    const before = await server.raw('GET', `/${bucket}/${key}`)
    if (stored === undefined || before.text !== bytes) {
      ledger.fault('wrong', `${AREA}: ${key}`, `it cannot be altered: ${before.status} ${before.text}`, '')
      continue
    }
    const { path, volume, at } = stored
    const forged = Buffer.from(volume)
    alteredWithSameChecksum(Buffer.from(bytes)).copy(forged, at)
    writeFileSync(path, forged, { flag: 'r+' })
    altered += 1
    for (const range of RANGES) {
      ledger.tried(AREA, 1)
      ledger.requests += 1
      const headers = range === undefined ? [] : ([['range', range]] as const)
      const answer = await server.raw('GET', `/${bucket}/${key}`, { headers })
      if (answer.status !== 409 || answer.code !== 'ObjectDamaged')
        ledger.fault('let in', `${AREA}: ${key} ${range ?? ''}`, `${answer.status} with altered bytes`, answer.text)
    }
    writeFileSync(path, volume, { flag: 'r+' })
  }
  return `${altered} objects altered`
}

/** Where bytes are in the volumes. */
function placeOf(paths: StorePaths, bytes: Buffer) {
  for (const name of nodeDisk.list(paths.volumes)) {
    const path = join(paths.volumes, name)
    const volume = readFileSync(path)
    const at = volume.indexOf(bytes)
    if (at !== -1) return { path, volume, at }
  }
  return undefined
}
