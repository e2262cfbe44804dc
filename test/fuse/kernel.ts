import { constants } from 'node:fs'
import { expect } from 'vitest'
import { openHome, type PosixFiles } from '../../src/backends/vault/index.ts'
import { FuseServer } from '../../src/fuse/fuse-server.ts'
import { opcodes } from '../../src/fuse/protocol/index.ts'

export const ROOT = 1
const HEADER_BYTES = 40
/** All features a kernel can have. */
export const EVERYTHING = 0xffff_ffff

export interface Answer {
  readonly errno: number
  readonly unique: bigint
  readonly body: Buffer
}

/** A server of an empty vault as a kernel sees it. */
export class Kernel {
  readonly files: PosixFiles
  /** What the server reported: the kernel has it otherwise in its cache. */
  readonly stale: number[] = []
  readonly #server: FuseServer

  private constructor(files: PosixFiles) {
    this.files = files
    this.#server = new FuseServer(files, {
      validity: { seconds: 60 },
      onStale: (ino) => this.stale.push(ino),
    })
  }

  static async connect({ isIntroduced = true }: { readonly isIntroduced?: boolean } = {}): Promise<Kernel> {
    const home = await openHome()
    await home.createVault('v')
    const kernel = new Kernel(await home.posix('v'))
    if (isIntroduced) kernel.ask(opcodes.init, 0, u32(7, 45, 65_536, EVERYTHING))
    return kernel
  }

  /** Sends a request; undefined if it is not answered. */
  ask(opcode: number, node: number, body: Uint8Array = Buffer.alloc(0), unique = 7n): Answer | undefined {
    return this.send(frame(opcode, node, body, unique))
  }

  send(bytes: Buffer): Answer | undefined {
    const pieces = this.#server.handle(bytes)
    if (pieces === undefined) return undefined
    const answer = Buffer.concat(pieces)
    expect(answer.readUInt32LE(0)).toBe(answer.length)
    return {
      errno: Math.abs(answer.readInt32LE(4)),
      unique: answer.readBigUInt64LE(8),
      body: answer.subarray(16),
    }
  }

  /** Makes a file; its number. */
  make(name: string): number {
    const answer = this.ask(opcodes.mknod, ROOT, Buffer.concat([u32(0o100644, 0, 0, 0), text(name)]))
    return Number(answer?.body.readBigUInt64LE(0))
  }

  /** Writes at what it takes to be the end of a file that is open to be appended to. */
  append(
    ino: number,
    position: number,
    content: string,
    { isFromCache = false }: { readonly isFromCache?: boolean } = {},
  ): Answer | undefined {
    const bytes = Buffer.from(content)
    const how = u32(bytes.length, isFromCache ? 1 : 0, 0, 0, constants.O_APPEND, 0)
    return this.ask(opcodes.write, ino, Buffer.concat([u64(0), u64(position), how, bytes]))
  }

  content(ino: number): string {
    return Buffer.from(this.files.read(ino, 0, this.files.getattr(ino).size)).toString()
  }

  lookup(name: string): number | undefined {
    return Number(this.ask(opcodes.lookup, ROOT, text(name))?.body.readBigUInt64LE(0))
  }
}

export function frame(opcode: number, node: number, body: Uint8Array, unique: bigint): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + body.length)
  bytes.writeUInt32LE(bytes.length, 0)
  bytes.writeUInt32LE(opcode, 4)
  bytes.writeBigUInt64LE(unique, 8)
  bytes.writeBigUInt64LE(BigInt(node), 16)
  bytes.set(body, HEADER_BYTES)
  return bytes
}

export function u32(...values: number[]): Buffer {
  return Buffer.from(new Uint32Array(values).buffer)
}

export function u64(value: number): Buffer {
  return Buffer.from(new BigUint64Array([BigInt(value)]).buffer)
}

export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}
