import { blocks, firstElement, type WireClient } from '../support/wire-client.ts'

/** Targets of the uploads in progress in a bucket, a thousand at most. */
export async function openUploads(wire: WireClient, bucket: string): Promise<string[]> {
  const { status, text } = await wire.send('GET', `/${bucket}?uploads`)
  if (status !== 200) throw new Error(`uploads of ${bucket}: ${status} ${text}`)
  return blocks(text, 'Upload').map((upload) => {
    return `/${bucket}/${firstElement(upload, 'Key')}?uploadId=${firstElement(upload, 'UploadId')}`
  })
}
