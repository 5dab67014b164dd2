/** The headers of GetObjectAttributes (S3 API reference). */

import type { HttpRequest } from '../../http/exchange.ts'
import { invalidArgument } from '../errors/s3-errors.ts'
import { effectiveHeader } from './effective-headers.ts'
import { PART_NUMBER_MAXIMUM } from './part-number.ts'
import type { Target } from './target.ts'

const ATTRIBUTES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
type Attribute = (typeof ATTRIBUTES)[number]

const PAGE_MAXIMUM = 1000

/**
 * The attributes that a request asks for: names separated by commas, in one header or several.
 * @throws S3Error InvalidArgument (no attribute, or an unknown one)
 */
export function attributesAsked(request: HttpRequest, target: Target): ReadonlySet<Attribute> {
  const header = 'x-amz-object-attributes'
  const lines = request.headers.filter(([name]) => name === header).map(([, value]) => value)
  const text = lines.length > 0 ? lines.join() : (effectiveHeader(request, target, header) ?? '')
  const asked = new Set<Attribute>()
  for (const piece of text.split(',')) {
    const attribute = ATTRIBUTES.find((name) => name === piece.trim())
    if (attribute === undefined) throw invalidArgument(header, text, 'Invalid attribute name specified.')
    asked.add(attribute)
  }
  return asked
}

/** A page of the parts of an object. */
export interface PartsAsked {
  /** Number of the part before the page. */
  readonly after: number
  readonly maximum: number
}

/** @throws S3Error InvalidArgument */
export function partsAsked(request: HttpRequest, target: Target): PartsAsked {
  const maximum = wholeNumber(request, target, 'x-amz-max-parts') ?? PAGE_MAXIMUM
  const after = wholeNumber(request, target, 'x-amz-part-number-marker') ?? 0
  return { after: Math.min(after, PART_NUMBER_MAXIMUM), maximum: Math.min(maximum, PAGE_MAXIMUM) }
}

function wholeNumber(request: HttpRequest, target: Target, name: string): number | undefined {
  const text = effectiveHeader(request, target, name)
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text)) throw invalidArgument(name, text, `${name} must be a whole number.`)
  return Number(text)
}
