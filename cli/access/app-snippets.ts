/** What each client needs to work as an application: texts that run unchanged. */
import { isIP } from 'node:net'
import type { BuiltIn } from './built-in-policies.ts'

export interface AppFacts {
  readonly name: string
  readonly access: BuiltIn
  readonly bucket: string
  readonly prefix: string
  /** Address of the S3 plane. */
  readonly s3Url: string
  readonly isStrict: boolean
  readonly accessKey: string
  readonly secretKey: string
  /** The file that holds the keys in place of the texts; undefined: the texts hold them. */
  readonly file: string | undefined
}

/** Any region signs; this is the region of the buckets. */
const REGION = 'us-east-1'

/** A word as a shell takes it. */
function word(text: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A text of Python, HCL or Spark. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

/** A text of SQL. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Whether a client would put the name of the bucket before a host that is not an address. */
function hasNamedHost({ s3Url }: AppFacts): boolean {
  const { hostname } = new URL(s3Url)
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 && hostname !== 'localhost'
}

/** Over TLS recent AWS tools send a checksum after the body, which `strict` refuses. */
function sendsTrailer({ s3Url, isStrict }: AppFacts): boolean {
  return isStrict && s3Url.startsWith('https:')
}

const reads = ({ access }: AppFacts) => access !== 'write'
const writes = ({ access }: AppFacts) => access !== 'read'

/** The file of `--profile-file`: for AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE. */
export function profileText(facts: AppFacts): string {
  return [
    `# ${facts.access} on ${facts.bucket}/${facts.prefix}*`,
    '[default]',
    `aws_access_key_id = ${facts.accessKey}`,
    `aws_secret_access_key = ${facts.secretKey}`,
    `region = ${REGION}`,
    `endpoint_url = ${facts.s3Url}`,
    ...(facts.isStrict ? ['request_checksum_calculation = when_required'] : []),
    's3 =',
    '  addressing_style = path',
    '  signature_version = s3v4',
    '',
  ].join('\n')
}

function awsLines(facts: AppFacts): string[] {
  const { file, bucket, prefix, s3Url } = facts
  const keys =
    file === undefined
      ? [
          `export AWS_ACCESS_KEY_ID=${word(facts.accessKey)} AWS_SECRET_ACCESS_KEY=${word(facts.secretKey)}`,
          `export AWS_DEFAULT_REGION=${REGION}`,
          ...(sendsTrailer(facts) ? ['export AWS_REQUEST_CHECKSUM_CALCULATION=when_required'] : []),
          ...(hasNamedHost(facts) ? ['aws configure set default.s3.addressing_style path'] : []),
        ]
      : [`export AWS_CONFIG_FILE=${word(file)} AWS_SHARED_CREDENTIALS_FILE=${word(file)}`]
  const aws = `aws --endpoint-url ${word(s3Url)} s3`
  const at = word(`s3://${bucket}/${prefix}`)
  return [
    ...keys,
    ...(writes(facts) ? [`echo hello | ${aws} cp - ${word(`s3://${bucket}/${prefix}hello.txt`)}`] : []),
    ...(reads(facts) ? [`${aws} ls ${at}`] : []),
  ]
}

function boto3Lines(facts: AppFacts): string[] {
  const { file, bucket, prefix } = facts
  const [place, key] = [quoted(bucket), quoted(`${prefix}hello.txt`)]
  const environment = [
    ...(file === undefined
      ? []
      : [`os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = ${quoted(file)}`]),
    ...(sendsTrailer(facts) ? ['os.environ["AWS_REQUEST_CHECKSUM_CALCULATION"] = "when_required"'] : []),
  ]
  const keys =
    file === undefined
      ? [`    aws_access_key_id=${quoted(facts.accessKey)}, aws_secret_access_key=${quoted(facts.secretKey)},`]
      : []
  return [
    ...(environment.length > 0 ? ['import os', ...environment] : []),
    'import boto3',
    'from botocore.config import Config',
    `s3 = boto3.client("s3", endpoint_url=${quoted(facts.s3Url)}, region_name="${REGION}",`,
    ...keys,
    '    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}))',
    ...(writes(facts) ? [`s3.put_object(Bucket=${place}, Key=${key}, Body=b"hello")`] : []),
    ...(reads(facts)
      ? [
          `print([each["Key"] for each in s3.list_objects_v2(Bucket=${place}, Prefix=${quoted(prefix)}).get("Contents", [])])`,
        ]
      : []),
  ]
}

function rcloneLines(facts: AppFacts): string[] {
  const { name, file, bucket, prefix } = facts
  const remote = name.replaceAll(/[^A-Za-z0-9_-]/g, '-')
  const keys =
    file === undefined
      ? [`access_key_id = ${facts.accessKey}`, `secret_access_key = ${facts.secretKey}`]
      : ['env_auth = true']
  return [
    `# in rclone.conf${file === undefined ? '' : `, with AWS_SHARED_CREDENTIALS_FILE=${word(file)}`}; then: rclone ${
      reads(facts) ? 'ls' : 'copy hello.txt'
    } ${word(`${remote}:${bucket}/${prefix}`)}`,
    `[${remote}]`,
    'type = s3',
    'provider = Other',
    `endpoint = ${facts.s3Url}`,
    `region = ${REGION}`,
    ...keys,
    'force_path_style = true',
    'list_version = 2',
    'no_check_bucket = true',
  ]
}

/** In place of a secret that only a file holds. */
function secretOr(facts: AppFacts): string {
  return facts.file === undefined ? facts.secretKey : `the secret key in ${facts.file}`
}

function duckDbLines(facts: AppFacts): string[] {
  const { bucket, prefix, s3Url } = facts
  const { host, protocol } = new URL(s3Url)
  const place = literal(`s3://${bucket}/${prefix}answer.parquet`)
  return [
    'INSTALL httpfs; LOAD httpfs;',
    `CREATE SECRET (TYPE s3, KEY_ID ${literal(facts.accessKey)}, SECRET ${literal(secretOr(facts))},`,
    `  REGION '${REGION}', ENDPOINT ${literal(host)}, URL_STYLE 'path', USE_SSL ${protocol === 'https:'});`,
    ...(writes(facts) ? [`COPY (SELECT 42 AS answer) TO ${place};`] : []),
    ...(reads(facts) ? [`FROM ${place};`] : []),
  ]
}

function sparkLines(facts: AppFacts): string[] {
  const ours = `spark.hadoop.fs.s3a.bucket.${facts.bucket}`
  return [
    '# in spark-defaults.conf, or each after --conf as name=value',
    `${ours}.endpoint ${facts.s3Url}`,
    `${ours}.endpoint.region ${REGION}`,
    `${ours}.access.key ${facts.accessKey}`,
    `${ours}.secret.key ${secretOr(facts)}`,
    `${ours}.path.style.access true`,
    `${ours}.connection.ssl.enabled ${facts.s3Url.startsWith('https:')}`,
    ...(facts.isStrict
      ? [
          `${ours}.multiobjectdelete.enable false`,
          `${ours}.multipart.threshold 5G`,
          `${ours}.s3.signing-algorithm AWS4UnsignedPayloadSignerType`,
        ]
      : []),
  ]
}

function terraformLines(facts: AppFacts): string[] {
  const { file, bucket, prefix } = facts
  const keys =
    file === undefined
      ? [
          `  access_key                  = ${quoted(facts.accessKey)}`,
          `  secret_key                  = ${quoted(facts.secretKey)}`,
        ]
      : [`  shared_credentials_files    = [${quoted(file)}]`]
  return [
    ...(facts.isStrict
      ? ['# needs s3.profile=compatible on the server: the provider reads tags and other settings']
      : []),
    'provider "aws" {',
    `  region                      = "${REGION}"`,
    ...keys,
    '  s3_use_path_style           = true',
    '  skip_credentials_validation = true',
    '  skip_metadata_api_check     = true',
    '  skip_requesting_account_id  = true',
    `  endpoints { s3 = ${quoted(facts.s3Url)} }`,
    '}',
    ...(writes(facts)
      ? [
          'resource "aws_s3_object" "hello" {',
          `  bucket  = ${quoted(bucket)}`,
          `  key     = ${quoted(`${prefix}hello.txt`)}`,
          '  content = "hello"',
          '}',
        ]
      : []),
  ]
}

/** The texts by client, in the order in which they are printed. */
export function appSnippets(facts: AppFacts): Readonly<Record<string, readonly string[]>> {
  return {
    aws: awsLines(facts),
    boto3: boto3Lines(facts),
    rclone: rcloneLines(facts),
    DuckDB: duckDbLines(facts),
    Spark: sparkLines(facts),
    Terraform: terraformLines(facts),
  }
}
