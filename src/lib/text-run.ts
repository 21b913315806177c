/**
 * Finds where a stretch without quotes, backslashes and control characters ends, 16 bytes at a time. JavaScript can only look
 * at one byte at a time, so the search is in WebAssembly. It is a single loop, whose code is written here as bytes.
 */

/** Size of the memory that can be searched, in bytes. */
export const RUN_BYTES_MAX = 256 * 1024

const PAGE_BYTES = 64 * 1024
/** Number of memory pages: one more than the text needs, because the last load reads beyond the text's end. */
const PAGES = RUN_BYTES_MAX / PAGE_BYTES + 1

const LOOP = [
  // locals: 1 is an i32, 2 a v128
  ...[0x02, 0x01, 0x7f, 0x01, 0x7b],
  // loop
  ...[0x03, 0x40],
  // local 2 = v128.load (local 0)
  ...[0x20, 0x00, 0xfd, 0x00, 0x00, 0x00, 0x22, 0x02],
  // i8x16.eq (i8x16.splat '"')
  ...[0x41, 0x22, 0xfd, 0x0f, 0xfd, 0x23],
  // v128.or (i8x16.eq (local 2) (i8x16.splat '\'))
  ...[0x20, 0x02, 0x41, 0xdc, 0x00, 0xfd, 0x0f, 0xfd, 0x23, 0xfd, 0x50],
  // v128.or (i8x16.lt_u (local 2) (i8x16.splat ' '))
  ...[0x20, 0x02, 0x41, 0x20, 0xfd, 0x0f, 0xfd, 0x26, 0xfd, 0x50],
  // local 1 = i8x16.bitmask; if (i32.eqz (local 1))
  ...[0xfd, 0x64, 0x22, 0x01, 0x45, 0x04, 0x40],
  // local 0 = i32.add (local 0) 16; br 1; end; end
  ...[0x20, 0x00, 0x41, 0x10, 0x6a, 0x21, 0x00, 0x0c, 0x01, 0x0b, 0x0b],
  // i32.add (local 0) (i32.ctz (local 1)); end
  ...[0x20, 0x00, 0x20, 0x01, 0x68, 0x6a, 0x0b],
]

function section(id: number, ...content: readonly number[]): number[] {
  return [id, content.length, ...content]
}

const MODULE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  // types: (i32) -> i32
  ...section(1, 1, 0x60, 1, 0x7f, 1, 0x7f),
  // functions: one of type 0
  ...section(3, 1, 0),
  // memory of a fixed size
  ...section(5, 1, 1, PAGES, PAGES),
  // exports: memory "m", function "f"
  ...section(7, 2, 1, 0x6d, 2, 0, 1, 0x66, 0, 0),
  ...section(10, 1, LOOP.length, ...LOOP),
)

/** Declared here because TypeScript's own declaration comes with the browser's types. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly m: { readonly buffer: ArrayBuffer }; readonly f: (at: number) => number } }
}

const { m: memory, f: search } = new WebAssembly.Instance(new WebAssembly.Module(MODULE)).exports

/**
 * Holds the bytes to search, followed by a control character, which ends every search. Bytes after that are left over from
 * earlier searches.
 */
export const searched = new Uint8Array(memory.buffer)

/** Finds the first quote, backslash or control character from a position on, and returns where it is. */
export const runEnd = search
