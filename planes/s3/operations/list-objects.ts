import { objectPage, positionAfter } from '../../objects/list-pages.ts'
import { bucketIn } from '../handling/lookup.ts'
import { listObjectsResult } from '../documents/xml-documents.ts'
import { xmlResponse } from '../documents/xml-response.ts'
import { defineOperation } from '../handling/operation.ts'
import { listObjectsParameters } from '../request/list-parameters.ts'
import { hintSentence } from '../errors/client-hints.ts'

/** S3 API reference, ListObjects, the first version of listings: pages start after a key that the client names. */
export const listObjects = defineOperation({
  name: 'ListObjects',
  method: 'GET',
  level: 'bucket',
  action: 's3:ListBucket',
  extension: 'list-objects-v1',
  instead: hintSentence('first version of lists'),
  handle(request, services) {
    const snapshot = services.catalog.snapshot()
    const bucket = bucketIn(snapshot, request.bucket)
    const parameters = listObjectsParameters(request.target.query)
    const { prefix, delimiter, marker, maxKeys } = parameters
    const after = marker === undefined ? undefined : positionAfter(marker, prefix, delimiter)
    const page = objectPage(snapshot, bucket.id, { prefix, delimiter, after, entriesMaximum: maxKeys })
    const document = listObjectsResult({
      ...parameters,
      bucket: bucket.name,
      contents: page.objects,
      commonPrefixes: page.prefixes,
      next: page.next?.bytes.toString(),
      owner: services.owner,
      showsChecksums: services.extensions.has('checksums'),
    })
    return xmlResponse(document)
  },
})
