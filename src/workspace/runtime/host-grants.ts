import { createHash } from 'node:crypto'
import { formatHostRule, type HostRule, parseHostRule } from '../../network/index.ts'
import { type FileSystem, isVfsError, readText, VfsError } from '../../vfs/index.ts'

const DIRECTORY = '/host-grants'
const ID_LENGTH = 12
const FILE_EXTENSION = '.json'

/** Workspace whose commands may reach a host: a directory or vault, or one fork of it. */
export interface GrantScope {
  readonly vault: string
  /** Absent for all forks. */
  readonly fork?: string | undefined
}

/** A host that a person allowed for a project or a fork. */
export interface HostGrant extends GrantScope {
  readonly id: string
  /** The rule, as it is typed. */
  readonly host: string
  readonly granted: string
  /** When it ends; null if it does not. */
  readonly expires: string | null
}

/** Hosts that a person allowed for longer than one run, as files of a vault. */
export class HostGrants {
  readonly #fs: FileSystem
  readonly #now: () => Date

  /**
   * @param now returns the time; the clock of this machine when absent.
   */
  constructor(fs: FileSystem, now: () => Date = () => new Date()) {
    this.#fs = fs
    this.#now = now
  }

  /** Allows hosts. A host that is allowed in the same scope already gets the new end. */
  async grant(hosts: readonly HostRule[], { vault, fork }: GrantScope, expires?: Date): Promise<HostGrant[]> {
    const grants = hosts.map((rule): HostGrant => {
      const host = formatHostRule(rule)
      const id = hashGrant(host, { vault, fork })
      const end = expires?.toISOString() ?? null
      const granted = this.#now().toISOString()
      return { id, host, vault, ...(fork !== undefined && { fork }), granted, expires: end }
    })
    await this.#fs.mkdir(DIRECTORY, { parents: true })
    for (const grant of grants)
      await this.#fs.write(getGrantPath(grant.id), `${JSON.stringify(grant, null, 2)}\n`)
    return grants
  }

  /** Takes a grant back. Throws ENOENT if the host is not allowed in this scope. */
  async revoke(rule: HostRule, scope: GrantScope): Promise<void> {
    const host = formatHostRule(rule)
    if (await this.#remove(getGrantPath(hashGrant(host, scope)))) return
    const detail = `'${host}' is not allowed there; coppice approve lists the hosts that are`
    throw new VfsError('ENOENT', host, { op: 'approve', detail })
  }

  /** Finds the hosts that commands in a fork may reach: those of the fork and those of the whole project. */
  async find({ vault, fork }: GrantScope): Promise<HostRule[]> {
    const grants = await this.list()
    return grants
      .filter((grant) => grant.vault === vault && (grant.fork === undefined || grant.fork === fork))
      .map(({ host }) => parseHostRule(host))
  }

  /** Lists all grants that have not ended, and removes the others. */
  async list(): Promise<HostGrant[]> {
    if (!(await this.#fs.exists(DIRECTORY))) return []
    const found: HostGrant[] = []
    for await (const { name } of this.#fs.readdir(DIRECTORY)) {
      const grant = await this.#read(`${DIRECTORY}/${name}`)
      if (grant === undefined) continue
      if (grant.expires === null || new Date(grant.expires) > this.#now()) found.push(grant)
      else await this.#remove(`${DIRECTORY}/${name}`)
    }
    return found
  }

  /** Returns false if there was none. */
  async #remove(path: string): Promise<boolean> {
    try {
      await this.#fs.remove(path)
      return true
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  async #read(path: string): Promise<HostGrant | undefined> {
    try {
      const grant: HostGrant = JSON.parse(await readText(this.#fs, path))
      return grant
    } catch (error) {
      // Revoked by another process meanwhile.
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }
}

function getGrantPath(id: string): string {
  return `${DIRECTORY}/${id}${FILE_EXTENSION}`
}

function hashGrant(host: string, { vault, fork }: GrantScope): string {
  const fields = JSON.stringify([host, vault, fork ?? null])
  return createHash('sha256').update(fields).digest('hex').slice(0, ID_LENGTH)
}
