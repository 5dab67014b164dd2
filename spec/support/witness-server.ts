/** A witness of transparency logs over HTTP, which keeps what it cosigned in a file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HonestWitness, readSubmission, type WitnessMemory } from './honest-witness.ts'

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

interface WitnessParts extends Omit<ConstructorParameters<typeof HonestWitness>[0], 'memory'> {
  /** Where it remembers. */
  readonly file: string
}

export async function startWitness({ file, ...parts }: WitnessParts): Promise<WitnessServer> {
  const memory = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as WitnessMemory) : {}
  const witness = new HonestWitness({ ...parts, memory })
  const requests: WitnessServer['requests'] = []
  let behaviour: WitnessBehaviour | undefined
  const answer = (body: string, response: ServerResponse) => {
    const submission = readSubmission(body)
    const { old, size, lines, note } = submission
    requests.push({ old, size, lines: lines.length })
    const honest = () => {
      const { status, contentType, text } = witness.answer(submission)
      writeFileSync(file, JSON.stringify(memory))
      return response.writeHead(status, contentType === undefined ? {} : { 'content-type': contentType }).end(text)
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
    vkey: witness.vkey,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/w/`,
    requests,
    get behaviour() {
      return behaviour
    },
    set behaviour(next) {
      behaviour = next
    },
    cosigned: (origin) => memory[origin]?.size ?? 0,
    cosign: witness.cosign.bind(witness),
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
