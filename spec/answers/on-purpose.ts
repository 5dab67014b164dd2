/** Differences from the kept recording that are meant, each with its reason. */
import type { OnPurpose } from './comparison.ts'

const PLAIN = 'a message in plain words'

export const ON_PURPOSE: readonly OnPurpose[] = [
  {
    shape: /ListDirectoryBuckets.*is now .*AbortMultipartUpload/,
    ask: /metrics/,
    reason: 'the order of metric series follows the list of operations, which is by name now',
  },
  { shape: /is no secret.*is now .*is not a secret/, reason: 'plain words in the page of settings' },
  {
    shape: /^body: /,
    ask: /openapi\.json/,
    reason: 'the summaries of routes and the sentences of errors, in plain words',
  },
  {
    shape: /^headers: without Content-Length: \d+; with Content-Length: \d+$/,
    ask: /api HEAD \/api\/v1\/buckets\/[\w-]+\?bucket=x /,
    reason: 'the length of a message in plain words',
  },
  { shape: /is no name for a bucket.*is now .*The specified bucket is not valid\./, reason: 'what S3 says' },
  { shape: /must be a text\\".*is now .*must be a string\\"/, reason: 'the name of the type in JSON' },
  { shape: /there is no such (field|parameter|action)\\".*is now .*unknown \1\\"/, reason: PLAIN },
  { shape: /is there twice.*is now .*occurs more than once/, reason: PLAIN },
  { shape: /stands only beside (the mode limit|after)\\".*is now .*is allowed only with \1\\"/, reason: PLAIN },
  { shape: /is no header value.*is now .*is not a valid header value/, reason: PLAIN },
  { shape: /is not that of the export.*is now .*does not match the export/, reason: PLAIN },
  { shape: /a wildcard may stand only at the end.*is now .*a wildcard is allowed only at the end/, reason: PLAIN },
  { shape: /has as many (credentials|policies) as it may.*is now .*has the maximum number of \1/, reason: PLAIN },
  { shape: /What the request was about changed.*is now .*The resource changed during the request/, reason: PLAIN },
  { shape: /where only elements may stand.*is now .*where only elements are allowed/, reason: PLAIN },
  { shape: /An end tag fits no start tag.*is now .*An end tag does not match its start tag/, reason: PLAIN },
  { shape: /An element has no proper name.*is now .*The name of an element is not valid/, reason: PLAIN },
  { shape: /must be there once and hold text.*is now .*must occur once and hold text/, reason: PLAIN },
  { shape: /buckets belong to no account number.*is now .*buckets have no account number/, reason: PLAIN },
  {
    shape: /^body: /,
    ask: /verify\/buckets\//,
    reason: 'a bucket is verified whole, with all versions, and says whether it was (decision 0044)',
  },
  {
    shape: /^(status|headers|body|records)\b/,
    ask: /^busy [78]: |^busy-management 7: /,
    reason: 'one gate for both planes, and an upload must be larger to hold a place (decision 0042)',
  },
  {
    shape: /^body: /,
    ask: /\/api\/v1\/system\/metrics|GET \/metrics/,
    reason: 'requests that are counted instead of recorded have a metric',
  },
  {
    shape: /^(body|headers): /,
    ask: /storage[/ ](inspect|repair)/,
    reason: 'an inspection goes through files before rows, page by page, and names files that are not ours',
  },
  {
    shape: /^(body|headers): /,
    ask: /storage\/usage/,
    reason: 'physical bytes are what the disk holds, and unused space of volumes is a figure of its own',
  },
  {
    shape: /^(body|headers): /,
    ask: /reports\/retention/,
    reason: 'a report has the cursor of the next one',
  },
  {
    shape: /^(body|status|headers|records)/,
    ask: / GET \/api\/v1\/audit\/(events|chain|export)/,
    reason:
      'pages name the head of the log; chain reports and manifests have hashes and counts; a chain beyond the head is 400',
  },
  {
    shape: /^records?\b.*access\.authenticated/,
    reason: 'changes of access end with their authentication (decision 0040)',
  },
  {
    shape: /^body: /,
    ask: /GET \/api\/v1\/(service-accounts|policies|management-tokens)(\?| )/,
    reason: 'lists are in the order of names',
  },
  {
    shape:
      /^records\b.* is now .*\\"(refused|reason)\\":|^body: .*upported.* is now .*upported(; (set|raise)| by this server\. )/,
    reason: 'a 501 says what to set at the client, and its record what was refused',
  },
  {
    shape: /^(status|headers|body|records)\b/,
    ask: /api PUT \/api\/v1\/buckets\/[^ ]+\/object\/.*(if-match|content-md5|content-encoding|x-amz-)/i,
    reason: 'an upload on the management plane refuses by name the headers that it does not honour',
  },
]
