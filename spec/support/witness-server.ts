/** A witness of transparency logs (C2SP tlog-witness) with its own code for trees, which keeps what it cosigned in a file. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SigningKey } from '../../engine/keys/signing-key.ts'
import { isSignedBy, readCheckpointNote, readVerifierKey } from '../../engine/checkpoints/checkpoint-note.ts'
import { cosignatureLine, cosignedMessage, cosignerKeyText } from '../../engine/checkpoints/cosignature.ts'

/** What the witness does with the next request instead of being honest. */
export type WitnessBehaviour = (response: ServerResponse, honest: () => void, note: string) => void

export interface WitnessServer {
  readonly vkey: string
  readonly url: string
  /** What was sent, the newest last. */
  readonly requests: { readonly old: number; readonly size: number; readonly lines: number }[]
  behaviour: WitnessBehaviour | undefined
  /** Size of the log that it has cosigned last. */
  cosigned(origin: string): number
  /** A line over a note, as the witness makes it. */
  cosign(note: string, seconds?: number, name?: string): string
  stop(): Promise<void>
}

interface WitnessParts {
  readonly name: string
  /** Every byte of its seed. */
  readonly seed: number
  /** Where it remembers. */
  readonly file: string
  /** vkey of a log, once it is known. */
  readonly logKey: () => string
  readonly seconds: () => number
}

export async function startWitness({ name, seed, file, logKey, seconds }: WitnessParts): Promise<WitnessServer> {
  const key = new SigningKey(Buffer.alloc(32, seed))
  type Memory = Record<string, { size: number; root: string }>
  const memory: Memory = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Memory) : {}
  const requests: WitnessServer['requests'] = []
  let behaviour: WitnessBehaviour | undefined
  const cosign = (note: string, at = seconds(), as = name) => {
    const signature = key.sign(cosignedMessage(at, readCheckpointNote(note).text))
    return cosignatureLine(as, key.publicKey, { seconds: at, signature })
  }
  const answer = (body: string, response: ServerResponse) => {
    const split = body.indexOf('\n\n')
    const [head = '', ...lines] = body.slice(0, split).split('\n')
    const note = body.slice(split + 2)
    const { origin, size, root } = readCheckpointNote(note)
    const old = Number(head.slice('old '.length))
    requests.push({ old, size, lines: lines.length })
    const honest = () => {
      const vkey = readVerifierKey(logKey())
      if (vkey.name !== origin) return response.writeHead(404).end()
      if (!isSignedBy(readCheckpointNote(note), vkey)) return response.writeHead(403).end()
      const had = memory[origin] ?? { size: 0, root: sha256().toString('base64') }
      if (old > size) return response.writeHead(400).end()
      if (old !== had.size) return response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end(`${had.size}\n`)
      if (!extendsTree(had, { size, root: Buffer.from(root).toString('base64') }, lines)) {
        return response.writeHead(422).end()
      }
      memory[origin] = { size, root: Buffer.from(root).toString('base64') }
      writeFileSync(file, JSON.stringify(memory))
      return response.writeHead(200).end(cosign(note))
    }
    if (behaviour === undefined) honest()
    else behaviour(response, honest, note)
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      if (request.method === 'POST' && request.url === '/w/add-checkpoint')
        answer(Buffer.concat(pieces).toString(), response)
      else response.writeHead(405).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    vkey: cosignerKeyText(name, key.publicKey),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/w/`,
    requests,
    get behaviour() {
      return behaviour
    },
    set behaviour(next) {
      behaviour = next
    },
    cosigned: (origin) => memory[origin]?.size ?? 0,
    cosign,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** The root over record hashes by the recursive definition of RFC 6962. */
export function rootOfRecords(hashes: readonly Uint8Array[]): Buffer {
  if (hashes.length === 1) return sha256(Buffer.of(0), hashes[0] as Uint8Array)
  const split = splitOf(hashes.length)
  return nodeOf(rootOfRecords(hashes.slice(0, split)), rootOfRecords(hashes.slice(split)))
}

/** RFC 6962 section 2.1.2, read backwards: the last line is the sibling at the top. */
function extendsTree(
  had: { readonly size: number; readonly root: string },
  next: { readonly size: number; readonly root: string },
  lines: readonly string[],
): boolean {
  if (had.size === 0) return lines.length === 0 && (next.size > 0 || next.root === had.root)
  const rest = lines.map((line) => Buffer.from(line, 'base64'))
  const oldRoot = Buffer.from(had.root, 'base64')
  const rebuilt = (old: number, size: number, isWhole: boolean): readonly [Buffer, Buffer] => {
    if (old === size) {
      const top = isWhole ? oldRoot : (rest.pop() ?? Buffer.alloc(32))
      return [top, top]
    }
    const split = splitOf(size)
    const top = rest.pop() ?? Buffer.alloc(32)
    if (old <= split) {
      const [before, after] = rebuilt(old, split, isWhole)
      return [before, nodeOf(after, top)]
    }
    const [before, after] = rebuilt(old - split, size - split, false)
    return [nodeOf(top, before), nodeOf(top, after)]
  }
  const [before, after] = rebuilt(had.size, next.size, true)
  return rest.length === 0 && before.equals(oldRoot) && after.toString('base64') === next.root
}

function splitOf(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

function nodeOf(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.of(1), left, right)
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
