import { createHash } from 'node:crypto'
import type { Redactor } from '../../secrets/index.ts'
import {
  type FileSystem,
  isVfsError,
  isWatchable,
  readText,
  requireProtocol,
  VfsError,
} from '../../vfs/index.ts'
import type { ExecutionDecision, ExecutionRequest } from '../policy/index.ts'

const DIRECTORY = '/approvals'
const ID_LENGTH = 12
const ID = /^(?:[0-9a-f]{12}|[0-9a-f]{64})$/
const FILE_EXTENSION = '.json'

/** A request that waits for approval, or was approved or denied. */
export interface Approval {
  readonly id: string
  /** Hash of the whole request; the id is its beginning. */
  readonly digest: string
  readonly vault: string
  readonly cwd: string
  readonly command: ExecutionRequest['command']
  readonly network: boolean
  /** Hosts that it asks for; absent if it asks for none. */
  readonly hosts?: readonly string[]
  /** Name of the fork in which it was to run; absent for a new one. */
  readonly fork?: string
  readonly isolation: ExecutionRequest['isolation']
  readonly env: ExecutionRequest['env']
  /** Standard input as text; null for none. */
  readonly stdin: string | null
  readonly reason: string | null
  /** Categories found by policy, and the kind of session; absent in older records. */
  readonly categories?: ExecutionDecision['categories']
  readonly session?: ExecutionRequest['session']
  readonly readonly?: boolean
  /** The deciding part, where `reason` quotes only its beginning. */
  readonly part?: string
  /** Names of variables that are passed on to it. */
  readonly passedEnv?: readonly string[]
  /** When it was requested. */
  readonly asked: string
  /** When it was approved; null while it waits. */
  readonly approved: string | null
  /** When it was denied; absent while it was not. */
  readonly denied?: string
}

/**
 * Requests that policy gates, as files of a vault. The id derives from the request, so an approval holds for exactly
 * the same request, although secrets are not stored. Two requests with the same short id, which an attacker could
 * construct, differ in the whole digest.
 */
export class Approvals {
  readonly #fs: FileSystem
  readonly #redactor: Redactor | undefined

  /**
   * @param redactor removes secrets from stored requests; none when absent.
   */
  constructor(fs: FileSystem, redactor?: Redactor) {
    this.#fs = fs
    this.#redactor = redactor
  }

  /** Records a waiting request and returns its id. A repeated request keeps its record and its answer. */
  async request(
    request: ExecutionRequest,
    decision: Partial<ExecutionDecision>,
    fork?: string,
  ): Promise<string> {
    const before = await this.#findRecord(request)
    if (before !== undefined) return before.id
    const digest = hashRequest(request)
    const id = (await this.#isIdTaken(toShortId(digest), digest)) ? digest : toShortId(digest)
    const { reason, categories, part } = decision
    const { vault, cwd, command, network, hosts, isolation, env, passedEnv, session, readonly } = request
    const stdin = request.stdin === undefined ? null : Buffer.from(request.stdin).toString()
    const requestedAt = new Date().toISOString()
    const review = {
      vault,
      cwd,
      command,
      network,
      isolation,
      env,
      stdin,
      reason: reason ?? null,
      session,
      readonly,
      ...(categories && { categories }),
      ...(part !== undefined && { part }),
      ...(passedEnv && { passedEnv }),
      ...(hosts?.length && { hosts }),
      ...(fork !== undefined && { fork }),
    }
    await this.#save({ id, digest, ...this.#redact(review), asked: requestedAt, approved: null })
    return id
  }

  /** Lets a request run once, also after a denial. Throws ENOENT if no request has this id. */
  async approve(id: string): Promise<Approval> {
    const { denied: _denied, ...waiting } = await this.get(id)
    const approved = { ...waiting, approved: new Date().toISOString() }
    await this.#save(approved)
    return approved
  }

  /**
   * Refuses a request until it is approved. No person is asked about it again. Throws ENOENT if no request has this id.
   */
  async deny(id: string): Promise<Approval> {
    const denied = { ...(await this.get(id)), approved: null, denied: new Date().toISOString() }
    await this.#save(denied)
    return denied
  }

  /** Removes a request that no longer needs an approval, and returns it. Throws ENOENT if no request has this id. */
  async take(id: string): Promise<Approval> {
    const found = await this.get(id)
    await this.#remove(id)
    return found
  }

  /** Reports whether a person denied a request. */
  async isDenied(request: ExecutionRequest): Promise<boolean> {
    return (await this.#findRecord(request))?.denied !== undefined
  }

  /** Removes a waiting request that was answered elsewhere. An earlier answer to it stays. */
  async withdraw(request: ExecutionRequest): Promise<void> {
    const found = await this.#findRecord(request)
    if (found !== undefined && isWaiting(found)) await this.#remove(found.id)
  }

  /** Removes the waiting requests that need no approval any more. */
  async withdrawAllowed(isAllowed: (waiting: Approval) => Promise<boolean>): Promise<void> {
    for (const found of await this.list())
      if (isWaiting(found) && (await isAllowed(found))) await this.#remove(found.id)
  }

  /**
   * Consumes the approval of a request: true for one caller, once. A request that was just answered with yes is
   * approved by that alone and no longer waits.
   */
  async consume(request: ExecutionRequest, answered?: string): Promise<boolean> {
    const isAnswered = answered !== undefined && listIds(hashRequest(request)).includes(answered)
    const found = await this.#findRecord(request)
    if (found === undefined || (!isAnswered && found.approved === null)) return isAnswered
    return (await this.#remove(found.id)) || isAnswered
  }

  /** Lists all waiting, approved and denied requests by id. Skips those that another process consumes meanwhile. */
  async list(): Promise<Approval[]> {
    if (!(await this.#fs.exists(DIRECTORY))) return []
    const found: Approval[] = []
    for await (const { name } of this.#fs.readdir(DIRECTORY)) {
      const approval = await this.#read(name.slice(0, -FILE_EXTENSION.length))
      if (approval !== undefined) found.push(this.#redact(approval))
    }
    return found
  }

  /** Yields the record of a request, then again at each change by any process; undefined once it is removed. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<Approval | undefined> {
    const path = getRecordPath(id)
    const changes = requireProtocol(this.#fs, isWatchable, 'watch', path).watch(path, { signal })
    for (;;) {
      // Watches before it reads, so that it misses no change in between.
      const next = changes[Symbol.asyncIterator]().next()
      next.catch(() => {})
      yield await this.#read(id)
      if ((await next).done === true) return
    }
  }

  /** Redacts what is stored for review; the digest still identifies the full request. */
  #redact<Review extends Pick<Approval, 'env'>>(review: Review): Review {
    const redactor = this.#redactor
    return redactor === undefined
      ? review
      : { ...redactor.redactValueForReview(review), env: redactor.redactEnvironmentForReview(review.env) }
  }

  /** Returns a request. Throws ENOENT if no request has this id. */
  async get(id: string): Promise<Approval> {
    const found = ID.test(id) ? await this.#read(id) : undefined
    if (found !== undefined) return this.#redact(found)
    const detail = `nothing waits for approval as '${id}'; coppice approve lists what does`
    throw new VfsError('ENOENT', id, { op: 'approve', detail })
  }

  async #findRecord(request: ExecutionRequest): Promise<Approval | undefined> {
    const digest = hashRequest(request)
    for (const id of listIds(digest)) {
      const found = await this.#read(id)
      if (found?.digest === digest) return found
    }
    return undefined
  }

  async #isIdTaken(id: string, digest: string): Promise<boolean> {
    const found = await this.#read(id)
    return found !== undefined && found.digest !== digest
  }

  async #read(id: string): Promise<Approval | undefined> {
    try {
      const approval: Approval = JSON.parse(await readText(this.#fs, getRecordPath(id)))
      return approval
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Returns false if another process removed it first. */
  async #remove(id: string): Promise<boolean> {
    try {
      await this.#fs.remove(getRecordPath(id))
      return true
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return false
      throw error
    }
  }

  async #save(approval: Approval): Promise<void> {
    await this.#fs.write(getRecordPath(approval.id), `${JSON.stringify(approval, null, 2)}\n`)
  }
}

function isWaiting({ approved, denied }: Approval): boolean {
  return approved === null && denied === undefined
}

function getRecordPath(id: string): string {
  return `${DIRECTORY}/${id}${FILE_EXTENSION}`
}

/** Lists the ids that a request may have. */
function listIds(digest: string): readonly string[] {
  return [toShortId(digest), digest]
}

function toShortId(digest: string): string {
  return digest.slice(0, ID_LENGTH)
}

/** Hashes every field that distinguishes requests. */
function hashRequest(request: ExecutionRequest): string {
  const { vault, cwd, command, env, passedEnv = [], network, isolation, readonly, stdin = null } = request
  const input = stdin === null ? null : Buffer.from(stdin).toString('base64')
  const fields = [vault, cwd, command, Object.entries(env).sort(), network, isolation, readonly, input]
  // Only if not the default, so that older approvals stay valid.
  const passed = passedEnv.length === 0 ? [] : [[...passedEnv].sort()]
  const session = request.session === 'auto' ? [] : [request.session]
  const hosts = request.hosts?.length ? [{ hosts: [...request.hosts].sort() }] : []
  return createHash('sha256')
    .update(JSON.stringify([...fields, ...passed, ...session, ...hosts]))
    .digest('hex')
}
