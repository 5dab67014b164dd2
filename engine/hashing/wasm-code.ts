/** Pieces of a WebAssembly module as bytes (WebAssembly Core Specification 2.0, chapter 5, Binary Format). */

export type Code = number[]

export const I32 = 0x7f
export const V128 = 0x7b
/** "\0asm" and the version. */
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const PAGE_BYTES = 64 * 1024

export const join = (...codes: readonly Code[]): Code => codes.flat()
export const localGet = (local: number): Code => [0x20, ...unsigned(local)]
export const localSet = (local: number): Code => [0x21, ...unsigned(local)]
export const localTee = (local: number): Code => [0x22, ...unsigned(local)]
export const i32Constant = (value: number): Code => [0x41, ...signed(value)]
export const i32Add: Code = [0x6a]
export const i32Subtract: Code = [0x6b]
/** Do something at least once, and again while an i32 that it leaves is not 0. */
export const repeated = (body: Code): Code => [0x03, 0x40, ...body, 0x0d, 0, 0x0b]
export const simd = (operation: number): Code => [0xfd, ...unsigned(operation)]

/** A function of i32 parameters without a result. */
export interface WasmFunction {
  readonly name: string
  readonly parameters: number
  /** Locals other than parameters, in order. */
  readonly locals: readonly { readonly count: number; readonly type: number }[]
  readonly code: Code
}

/** A module that exports functions, and its memory as `memory`. */
export function wasmModule(functions: readonly WasmFunction[], memoryBytes: number): Uint8Array<ArrayBuffer> {
  const pages = Math.ceil(memoryBytes / PAGE_BYTES)
  return Uint8Array.from([
    ...HEADER,
    ...section(
      1,
      functions.map(({ parameters }) => [0x60, parameters, ...Array.from({ length: parameters }, () => I32), 0]),
    ),
    ...section(
      3,
      functions.map((_, index) => [index]),
    ),
    ...section(5, [[0, ...unsigned(pages)]]),
    ...section(7, [exported('memory', 2, 0), ...functions.map(({ name }, index) => exported(name, 0, index))]),
    ...section(10, functions.map(bodyOf)),
  ])
}

function bodyOf({ locals, code }: WasmFunction): Code {
  const declared = [locals.length, ...locals.flatMap(({ count, type }) => [...unsigned(count), type])]
  const body = [...declared, ...code, 0x0b]
  return [...unsigned(body.length), ...body]
}

function section(id: number, items: readonly Code[]): Code {
  const content = [...unsigned(items.length), ...items.flat()]
  return [id, ...unsigned(content.length), ...content]
}

function exported(name: string, kind: number, index: number): Code {
  return [name.length, ...Buffer.from(name, 'ascii'), kind, index]
}

/** LEB128, unsigned. */
export function unsigned(value: number): Code {
  const bytes: Code = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}

/** LEB128 of the 32 bits of a number, signed. */
function signed(value: number): Code {
  const bytes: Code = []
  let rest = value | 0
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest & 0x7f]
}
