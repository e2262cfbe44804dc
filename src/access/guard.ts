import {
  type Appendable,
  type Attributed,
  type CallContext,
  type Content,
  copyContent,
  type FileHandle,
  type FileSystem,
  type Forkable,
  type HardLinkable,
  isAppendable,
  isAttributed,
  isForkable,
  isHardLinkable,
  isLinkable,
  isOpenable,
  isRenamable,
  isVfsError,
  type Linkable,
  type MkdirOptions,
  type Openable,
  type OpenOptions,
  type RemoveOptions,
  type Renamable,
  type RenameOptions,
  requireProtocol,
  type StatChanges,
  VfsError,
  type WriteOptions,
} from '../vfs/index.ts'
import { createEntryAccess, createTargetAccess, Gate } from './gate.ts'
import { GuardedReads } from './guarded-reads.ts'
import type { Policy } from './policy.ts'
import type { PathQuota } from './quota-zone.ts'
import { Quotas } from './quotas.ts'

/** Options of `guard`. */
export interface GuardOptions {
  /** Limits of paths. A change beyond one throws ENOSPC. */
  readonly quotas?: readonly PathQuota[]
  /** Clock of the quotas, in milliseconds: the age of a count of files. */
  readonly now?: () => number
}

/**
 * Guards a whole namespace: every operation must pass the policies, or fails with EACCES and the reason. The system
 * always passes.
 */
export function guard(fs: FileSystem, policies: readonly Policy[], options: GuardOptions = {}): GuardedFs {
  return new GuardedFs(fs, policies, options)
}

/**
 * A file system behind policies. It wraps a whole namespace, so that it covers every mount.
 * A move or a hard link needs access to both paths. A path with symbolic links is checked as it is given and where it
 * leads. Creating a symbolic link needs access to its path only, whatever its target.
 * A handle is checked once, when it is opened.
 * The guard keeps the order of writes itself, since checks are asynchronous.
 */
export class GuardedFs
  extends GuardedReads
  implements Forkable, Renamable, Linkable, HardLinkable, Attributed, Appendable, Openable
{
  readonly #fs: FileSystem
  readonly #gate: Gate
  readonly #policies: readonly Policy[]
  readonly #options: GuardOptions
  readonly #quotas: Quotas

  constructor(fs: FileSystem, policies: readonly Policy[], options: GuardOptions = {}) {
    const gate = new Gate(fs, policies)
    super(fs, gate)
    this.#fs = fs
    this.#gate = gate
    this.#policies = policies
    this.#options = options
    this.#quotas = new Quotas(fs, options.quotas ?? [], options.now)
  }

  /** Forks the file system behind the same policies, with quotas of its own. */
  fork(): GuardedFs {
    return new GuardedFs(
      requireProtocol(this.#fs, isForkable, 'fork', '/').fork(),
      this.#policies,
      this.#options,
    )
  }

  rename(from: string, to: string, options: RenameOptions = {}, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'rename', path: from, to, ctx }, ({ path: source, to: target, ctx: inner }) => {
      const fs = requireProtocol(this.#fs, isRenamable, 'rename', source)
      const touches = [createEntryAccess(source, 'remove'), createEntryAccess(target, 'write')]
      return this.#gate.runIfAllowed(
        { op: 'rename', touches, ctx: inner },
        async (passed, real, realTarget) => {
          await this.#gate.assertContentsAllowed(
            'rename',
            [createEntryAccess(real, 'remove'), createEntryAccess(realTarget, 'write')],
            passed,
          )
          await this.#quotas.move({ op: 'rename', path: real, ctx: passed }, realTarget, () =>
            fs.rename(real, realTarget, options, passed),
          )
        },
      )
    })
  }

  symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, ({ path: checked, ctx: inner }) => {
      const fs = requireProtocol(this.#fs, isLinkable, 'symlink', checked)
      return this.#gate.runIfAllowed(
        { op: 'symlink', touches: [createEntryAccess(checked, 'write')], ctx: inner },
        (passed, real) =>
          this.#quotas.add({ op: 'symlink', path: real, ctx: passed }, () =>
            fs.symlink(target, real, passed),
          ),
      )
    })
  }

  /**
   * Gives a file a second name. Needs write access to both paths and read access to the existing one: its content can
   * be read and written under the new name from then on.
   */
  link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'link', path: existing, to: path, ctx }, ({ path: source, to, ctx: inner }) => {
      const fs = requireProtocol(this.#fs, isHardLinkable, 'link', source)
      const touches = [
        createEntryAccess(source, 'write'),
        createEntryAccess(to, 'write'),
        createEntryAccess(source, 'read'),
      ]
      return this.#gate.runIfAllowed({ op: 'link', touches, ctx: inner }, (passed, real, realName) =>
        this.#quotas.addName({ op: 'link', path: realName, ctx: passed }, real, () =>
          fs.link(real, realName, passed),
        ),
      )
    })
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'setattr', path, ctx }, ({ path: checked, ctx: inner }) => {
      const fs = requireProtocol(this.#fs, isAttributed, 'setattr', checked)
      const touches = [
        changes.ofLink ? createEntryAccess(checked, 'write') : createTargetAccess(checked, 'write'),
      ]
      return this.#gate.runIfAllowed({ op: 'setattr', touches, ctx: inner }, (passed, real) =>
        fs.setattr(real, changes, passed),
      )
    })
  }

  append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'append', path, content, ctx }, (requested) => {
      const fs = requireProtocol(this.#fs, isAppendable, 'append', requested.path)
      return this.#store('append', requested.path, requested.content, requested.ctx, (real, owned, passed) =>
        fs.append(real, owned, passed),
      )
    })
  }

  open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<FileHandle> {
    return this.call('open', path, ctx, (checked, inner) => {
      const fs = requireProtocol(this.#fs, isOpenable, 'open', checked)
      const isChange = options.write || options.create || options.truncate
      const touches = [createTargetAccess(checked, isChange ? 'write' : 'read')]
      return this.#gate.runIfAllowed({ op: 'open', touches, ctx: inner }, (passed, real) =>
        isChange
          ? this.#quotas.open({ op: 'open', path: real, ctx: passed }, options, () =>
              fs.open(real, options, passed),
            )
          : fs.open(real, options, passed),
      )
    })
  }

  protected override doWrite(
    path: string,
    content: Content,
    options: WriteOptions,
    ctx?: CallContext,
  ): void | Promise<void> {
    return this.#store('write', path, content, ctx, (real, owned, passed) =>
      this.#fs.write(real, owned, options, passed),
    )
  }

  protected override doMkdir(path: string, options: MkdirOptions, ctx?: CallContext): void | Promise<void> {
    const touches = [createEntryAccess(path, 'write')]
    return this.#gate.runIfAllowed({ op: 'mkdir', touches, ctx }, async (passed, real) => {
      try {
        await this.#fs.mkdir(real, options, passed)
      } catch (error) {
        const isRefusedByGuard = passed?.links === 'refuse' && ctx?.links !== 'refuse'
        if (!isRefusedByGuard || !options.parents || !isVfsError(error, 'ELOOP')) throw error
        await this.#assertLeadsToDirectory(path, ctx)
      }
    })
  }

  /** Throws EEXIST unless a link leads to a directory, ELOOP if it leads to itself, EACCES if its target is denied. */
  #assertLeadsToDirectory(path: string, ctx?: CallContext): void | Promise<void> {
    const touches = [createTargetAccess(path, 'write')]
    return this.#gate.runIfAllowed({ op: 'mkdir', touches, ctx }, async (passed, real) => {
      const found = (await this.#fs.exists(real, passed)) && (await this.#fs.stat(real, passed)).type
      if (found !== 'directory') throw new VfsError('EEXIST', path, { op: 'mkdir' })
    })
  }

  protected override doRemove(path: string, options: RemoveOptions, ctx?: CallContext): void | Promise<void> {
    const touches = [createEntryAccess(path, 'remove')]
    return this.#gate.runIfAllowed({ op: 'remove', touches, ctx }, async (passed, real) => {
      if (options.recursive)
        await this.#gate.assertContentsAllowed('remove', [createEntryAccess(real, 'remove')], passed)
      await this.#quotas.remove({ op: 'remove', path: real, ctx: passed }, () =>
        this.#fs.remove(real, options, passed),
      )
    })
  }

  /**
   * Writes or appends content, if the policies and quotas allow it. Copies it first: the caller may change it while its
   * path is checked.
   */
  #store(
    op: 'write' | 'append',
    path: string,
    content: Content,
    ctx: CallContext | undefined,
    run: (path: string, content: Content, ctx: CallContext | undefined) => Promise<void>,
  ): void | Promise<void> {
    if (this.#quotas.isEmpty && this.#gate.isUnrestricted('write', ctx)) return run(path, content, ctx)
    const owned = copyContent(content)
    const isRepeatable = typeof owned === 'string' || owned instanceof Uint8Array
    const request = { op, touches: [createTargetAccess(path, 'write')], ctx, isRepeatable }
    return this.#gate.runIfAllowed(request, (passed, real) =>
      this.#quotas.store({ op, path: real, ctx: passed }, owned, (stored) => run(real, stored, passed)),
    )
  }
}
