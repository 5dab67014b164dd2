import type { X509Certificate } from 'node:crypto'
import { type Clock, systemClock } from '../../../engine/clock.ts'

/** The same as the alert in `cli/packaging/monitoring`. */
const SOON_MILLISECONDS = 14 * 86_400_000
/** A certificate that is renewed every few days has less than a third of its time left when that fails. */
const SOON_SHARE = 1 / 3

/** Why clients refuse a certificate, or soon will; undefined for good dates. */
export function problemOfDates(
  certificate: X509Certificate,
  clock: Clock = systemClock,
): 'the certificate is not valid yet' | 'the certificate has expired' | 'the certificate expires soon' | undefined {
  const milliseconds = clock() / 1000
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  if (milliseconds < from) return 'the certificate is not valid yet'
  if (milliseconds > to) return 'the certificate has expired'
  const left = to - milliseconds
  return left < Math.min(SOON_MILLISECONDS, (to - from) * SOON_SHARE) ? 'the certificate expires soon' : undefined
}
