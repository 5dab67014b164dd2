/**
 * Targets of webhooks that would have the server ask what only it can reach: addresses of its own, of its network and of
 * clouds, in every spelling that a URL has for them, and what is no web address at all (specification, Target restrictions).
 */
import type { Assault } from './assault.ts'
import { apiBytes } from './signed-requests.ts'

/** Addresses of IPv4 that nobody outside may name, each as four bytes. */
const INNER: readonly (readonly [number, number, number, number])[] = [
  [127, 0, 0, 1],
  [127, 255, 255, 254],
  [0, 0, 0, 0],
  [10, 0, 0, 1],
  [172, 16, 0, 1],
  [172, 31, 255, 254],
  [192, 168, 1, 1],
  [100, 64, 0, 1],
  [169, 254, 169, 254],
  [169, 254, 170, 2],
  [100, 100, 100, 200],
  [168, 63, 129, 16],
  [192, 0, 0, 192],
  [192, 0, 2, 1],
  [198, 18, 0, 1],
  [203, 0, 113, 1],
  [224, 0, 0, 1],
  [255, 255, 255, 255],
]

function spellingsOf([a, b, c, d]: readonly [number, number, number, number]): string[] {
  const high = a * 256 + b
  const low = c * 256 + d
  const number = high * 65_536 + low
  const octal = [a, b, c, d].map((byte) => `0${byte.toString(8)}`).join('.')
  const hex = [a, b, c, d].map((byte) => `0x${byte.toString(16)}`).join('.')
  const wide = `${a}.${b}.${c}.${d}`.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  const [left, right] = [high.toString(16), low.toString(16)]
  return [
    `${a}.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}.`,
    String(number),
    `0x${number.toString(16)}`,
    octal,
    hex,
    `${a}.${b}.${low}`,
    wide,
    `${a}%2e${b}.${c}.${d}`,
    `${a}\u3002${b}\uff0e${c}\uff61${d}`,
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::ffff:${left}:${right}]`,
    `[0:0:0:0:0:FFFF:${left}:${right}]`,
    `[::${left}:${right}]`,
    `[::ffff:0:${left}:${right}]`,
    `[64:ff9b::${a}.${b}.${c}.${d}]`,
    `[64:ff9b::${left}:${right}]`,
    `[64:ff9b:1::${left}:${right}]`,
    `[2002:${left}:${right}::1]`,
    `[2001:0:${left}:${right}::]`,
  ]
}

const INNER_IPV6 = [
  '[::]',
  '[::1]',
  '[fe80::1]',
  '[fe80::1%25eth0]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[100::1]',
]

/** Wrong as they are written, wherever they lead. */
const MALFORMED = [
  'http://receiver.example/',
  'ftp://receiver.example/',
  'file:///etc/passwd',
  'gopher://receiver.example/',
  'javascript:alert(1)',
  'data:text/plain,x',
  '//receiver.example/',
  'https:receiver.example',
  'https:/receiver.example',
  'https://',
  'https://user@receiver.example/',
  'https://user:password@receiver.example/',
  'https://receiver.example/#fragment',
  'https://receiver.example/ x',
  ' https://receiver.example/',
  'https://receiver.example\n/',
  'https://receiver.example:0/',
  'https://receiver.example:65536/',
  `https://receiver.example/${'x'.repeat(2048)}`,
]

export async function attackTargets(assault: Assault): Promise<string> {
  const { arena, ledger } = assault
  const hosts = [...INNER.flatMap(spellingsOf), ...INNER_IPV6]
  const ports = ['', `:${arena.apiPort}`, `:${arena.server.port}`]
  const inner = hosts.flatMap((host) => ports.map((port) => `https://${host}${port}/hook`))
  const targets = [...inner, ...MALFORMED]
  await assault.onApi('targets of webhooks', targets, async (lane, target) => {
    const body = ascii(JSON.stringify({ target_url: target, event_types: ['object.created'] }))
    const headers = [['content-type', 'application/json']] as const
    const bytes = apiBytes(arena, 'POST', '/api/v1/webhooks', { body, headers })
    const name = `a webhook to ${JSON.stringify(target)}`
    const answer = await assault.ask(lane, { name, method: 'POST', bytes, mayChange: false, isRecorded: true })
    if (answer === undefined || answer.status === 400) return
    ledger.fault(answer.status < 300 ? 'let in' : 'wrong', name, `answered ${answer.status} ${answer.code}`, bytes)
  })
  return `${targets.length} targets`
}

function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
