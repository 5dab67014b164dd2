/** The document of the operations on tags. */

import { TAG_VALUE_LENGTH_MAXIMUM } from '../../../engine/domain/names.ts'
import { malformedXml } from '../errors/s3-errors.ts'
import { checkedTags } from '../request/tags.ts'
import { exactTextOf, expectOnly, readXml, type XmlElement } from '../text/xml-reader.ts'
import { element, successDocument } from '../text/xml-writer.ts'

const ROOT = 'Tagging'
/** As written: references may make a text longer. Longer keys and values are refused by what is wrong with them. */
const TEXT_MAXIMUM = 8 * TAG_VALUE_LENGTH_MAXIMUM

/**
 * The tags: key, value, key, value.
 * @throws S3Error MalformedXML, and as checkedTags
 */
export function parseTagging(body: Buffer, of: 'object' | 'bucket'): string[] {
  const root = readXml(body, ROOT, TEXT_MAXIMUM)
  expectOnly(root, ['TagSet'])
  const set = onlyChild(root, 'TagSet')
  expectOnly(set, ['Tag'])
  return checkedTags((set.children.get('Tag') ?? []).map(readTag), of)
}

/** White space is a part of keys and values. */
function readTag(tag: XmlElement): readonly [key: string, value: string] {
  expectOnly(tag, ['Key', 'Value'])
  return [exactTextOf(onlyChild(tag, 'Key'), TEXT_MAXIMUM), exactTextOf(onlyChild(tag, 'Value'), TEXT_MAXIMUM)]
}

function onlyChild(parent: XmlElement, name: string): XmlElement {
  const [child, ...others] = parent.children.get(name) ?? []
  if (child === undefined || others.length > 0) throw malformedXml(`${parent.name} must hold one ${name}.`)
  return child
}

/** @param tags key, value, key, value */
export function taggingDocument(tags: readonly string[]): string {
  let set = ''
  for (let at = 0; at < tags.length; at += 2) {
    set += `<Tag>${element('Key', tags[at] as string)}${element('Value', tags[at + 1] as string)}</Tag>`
  }
  return successDocument(ROOT, `<TagSet>${set}</TagSet>`)
}
