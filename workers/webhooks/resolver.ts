import { promises as dns } from 'node:dns'

/** All addresses of a host name; rejects when it has none. The signal aborts it. */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

const { Resolver: Queries } = dns

/** Names of this machine, which no name server is asked for (RFC 6761 section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/i

/**
 * Asks the name servers, without a cache: an answer may change between two attempts. Names that they do not have are
 * looked up as every program of the machine does (/etc/hosts, search domains), one at a time: such a lookup holds one
 * of the few threads that also read payloads, and hanging lookups must not hold them all.
 */
export function systemResolver(): Resolver {
  let last: Promise<unknown> = Promise.resolve()
  return async (hostname, signal) => {
    const answered = LOCAL_NAME.test(hostname) ? 'unknown' : await queried(hostname, signal)
    if (answered !== 'unknown') return answered
    const mine = last.then(() => {
      signal.throwIfAborted()
      return dns.lookup(hostname, { all: true, verbatim: true })
    })
    last = mine.catch(() => undefined)
    return (await mine).map(({ address }) => address)
  }
}

async function queried(hostname: string, signal: AbortSignal): Promise<readonly string[] | 'unknown'> {
  const queries = new Queries({ timeout: 2000, tries: 2 })
  const cancel = () => queries.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([queries.resolve4(hostname), queries.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    signal.throwIfAborted()
    for (const answer of answers) {
      // The other lookup would wait for the same name servers.
      if (answer.status === 'rejected' && (answer.reason as NodeJS.ErrnoException).code === 'ETIMEOUT')
        throw answer.reason
    }
    return 'unknown'
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
