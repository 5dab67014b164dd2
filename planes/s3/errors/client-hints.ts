/**
 * Client settings that avoid common refusals of this store. The messages of these refusals take their text from here;
 * spec/clients lists which client needs which setting.
 */

/** A part of S3 that is refused, whatever header, parameter or operation a request asks for it with. */
type Refused = 'signed chunks' | 'trailing checksums' | 'batch deletion' | 'first version of lists' | 'copies of parts'

/**
 * The setting of AWS's SDKs and of tools built on them. The SDK for Java signs chunks over HTTP all the same, the uploader of the SDK
 * for Go has a setting of its own, and Terraform another one besides.
 */
const WHEN_REQUIRED =
  'set AWS_REQUEST_CHECKSUM_CALCULATION=when_required at the client (Java: chunkedEncodingEnabled(false) too; ' +
  'Go: RequestChecksumCalculation of the uploader; Terraform: skip_s3_checksum too)'

/** What to do instead: a clause without capital letter and full stop. */
export const CLIENT_HINTS: Readonly<Record<Refused, string>> = {
  'signed chunks': WHEN_REQUIRED,
  'trailing checksums': WHEN_REQUIRED,
  'batch deletion':
    'set the client to delete objects one at a time: fs.s3a.multiobjectdelete.enable=false (S3A), ' +
    'disable_bulk_delete=true (obstore), rm_file (s3fs for Python), remove_object (minio)',
  'first version of lists':
    'set the client to version 2 of lists (list-type=2): list_version = 2 (rclone), listobjectsv2 (s3fs-fuse), ' +
    'list_objects_v2 (boto3)',
  'copies of parts':
    'raise the multipart copy threshold of the client (up to 5 GiB), so that it sends one CopyObject: ' +
    'multipart_threshold = 5GB (aws), TransferConfig (boto3), copy_cutoff = 5G (rclone)',
}

/** What helps besides where a request comes over plain HTTP: these sign chunks only there. */
export const OVER_TLS = 'or use TLS (restic, mc, Spark)'

/** The hint as a sentence of its own. */
export function hintSentence(refused: Refused): string {
  return sentence(CLIENT_HINTS[refused])
}

/** A clause as a sentence. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
}
