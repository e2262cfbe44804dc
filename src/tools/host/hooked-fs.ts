import type { ProtectedNames } from '../../access/index.ts'
import {
  Backend,
  type CallContext,
  type Capability,
  type Content,
  copyContent,
  type DirEntry,
  type FileSystem,
  type MaterializeOptions,
  type MkdirOptions,
  type ReadOptions,
  type RemoveOptions,
  refuseLinks,
  type Stat,
  VfsError,
  type WalkEntry,
  type WalkOptions,
  type WriteOptions,
} from '../../vfs/index.ts'

/** Undefined allows; a string refuses with that reason. Throwing refuses as well. */
type HookVerdict = string | undefined

/** Hooks of the machine's owner, called before an agent touches a file. Paths are real. */
export interface HostHooks {
  /** Called before content is read, by any tool. */
  preRead?(path: string, ctx: CallContext | undefined): HookVerdict | Promise<HookVerdict>
  /** Called before anything is written, created or removed; for a recursive removal once, with its directory. */
  preWrite?(path: string, ctx: CallContext | undefined): HookVerdict | Promise<HookVerdict>
}

/** Without native search, rename and the like, these go through the operations below, which call the hooks. */
const HOOKED_CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'write',
  'mkdir',
  'native-walk',
  'native-read',
])

/**
 * Calls the owner's hooks before content is read and before each change, once per file: it serves one
 * tool call, which may read a file in several steps. Refusals are EACCES.
 * Paths are real: a link created after the decision is ELOOP, never followed.
 * It extends `Backend` for its queue of mutations: a later write waits for one whose hook is slow.
 */
export class HookedFs extends Backend {
  readonly #inner: FileSystem
  readonly #hooks: HostHooks
  readonly #protected: ProtectedNames
  readonly #verdicts = new Map<string, Promise<HookVerdict>>()

  constructor(inner: FileSystem, hooks: HostHooks, protectedNames: ProtectedNames) {
    super()
    this.#inner = inner
    this.#hooks = hooks
    this.#protected = protectedNames
  }

  get capabilities(): ReadonlySet<Capability> {
    return this.#inner.capabilities.intersection(HOOKED_CAPABILITIES)
  }

  protected override doExists(path: string, ctx?: CallContext): Promise<boolean> {
    return this.#inner.exists(path, refuseLinks(ctx))
  }

  protected doStat(path: string, ctx?: CallContext): Promise<Stat> {
    return this.#inner.stat(path, refuseLinks(ctx))
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return this.#inner.readdir(path, refuseLinks(ctx))
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    if (this.#hooks.preRead === undefined) return this.#inner.read(path, options, refuseLinks(ctx))
    return this.#readAllowed(path, options, ctx)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return this.#inner.walk(root, options, refuseLinks(ctx))
  }

  protected override doMaterialize(options: MaterializeOptions, ctx?: CallContext): Promise<void> {
    return this.#inner.materialize(options, ctx)
  }

  protected override async doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const owned = copyContent(content)
    await this.#assertWritable('write', path, ctx)
    await this.#inner.write(path, owned, options, refuseLinks(ctx))
  }

  protected override async doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): Promise<void> {
    await this.#assertWritable('mkdir', path, ctx)
    await this.#inner.mkdir(path, options, refuseLinks(ctx))
  }

  protected override async doRemove(path: string, options: RemoveOptions, ctx?: CallContext): Promise<void> {
    await this.#assertWritable('remove', path, ctx)
    // A removal that would take a protected name along is refused, also that of an empty directory.
    const descendants = options.recursive
      ? this.#inner.walk(path, { includeDirs: true }, refuseLinks(ctx))
      : []
    for await (const entry of descendants) this.#assertUnprotected('remove', entry.path)
    await this.#inner.remove(path, options, refuseLinks(ctx))
  }

  /** The inner write compares `ifMatch` itself. */
  protected override assertMatch(): void {}

  async *#readAllowed(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    await this.#assertAllowed('preRead', 'read', path, ctx)
    yield* this.#inner.read(path, options, refuseLinks(ctx))
  }

  async #assertWritable(op: string, path: string, ctx?: CallContext): Promise<void> {
    this.#assertUnprotected(op, path)
    await this.#assertAllowed('preWrite', op, path, ctx)
  }

  #assertUnprotected(op: string, path: string): void {
    const detail = this.#protected.findRefusal(path)
    if (detail !== undefined) throw new VfsError('EACCES', path, { op, detail })
  }

  async #assertAllowed(hook: keyof HostHooks, op: string, path: string, ctx?: CallContext): Promise<void> {
    const hookKey = `${hook} ${path}`
    const verdict = this.#verdicts.get(hookKey) ?? this.#runHook(hook, path, ctx)
    this.#verdicts.set(hookKey, verdict)
    const reason = await verdict
    ctx?.signal?.throwIfAborted()
    if (reason !== undefined) throw new VfsError('EACCES', path, { op, detail: reason })
  }

  async #runHook(hook: keyof HostHooks, path: string, ctx?: CallContext): Promise<HookVerdict> {
    try {
      const reason = await this.#hooks[hook]?.(path, ctx)
      return reason === undefined ? undefined : `the ${hook} hook refuses: ${reason}`
    } catch (error) {
      return `the ${hook} hook failed: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}
