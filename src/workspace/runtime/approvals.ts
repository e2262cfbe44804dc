import { createHash } from 'node:crypto'
import type { Redactor } from '../../secrets/index.ts'
import { type FileSystem, isVfsError, readText, VfsError } from '../../vfs/index.ts'
import type { ExecutionDecision, ExecutionRequest } from '../policy/index.ts'

const DIRECTORY = '/approvals'
const ID_LENGTH = 12
const ID = /^(?:[0-9a-f]{12}|[0-9a-f]{64})$/
const FILE_EXTENSION = '.json'

/** A request that waits for somebody's word, or has it. */
export interface Approval {
  readonly id: string
  /** All of the request in one number, of which the id is the beginning. */
  readonly digest: string
  readonly vault: string
  readonly cwd: string
  readonly command: ExecutionRequest['command']
  readonly network: boolean
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
  /** Variables that it gets besides, by name. */
  readonly passedEnv?: readonly string[]
  readonly asked: string
  /** When it was approved; null while it waits. */
  readonly approved: string | null
  /** When somebody said no to it; absent while nobody has. */
  readonly denied?: string
}

/**
 * Requests that policy gates, as files of a vault. The id is made of the request, so that the same request asked again
 * is the one that was approved, and no other is, though secrets are not kept: two that share a short id, which can be
 * brought about, are distinguished by the whole digest.
 */
export class Approvals {
  readonly #fs: FileSystem
  readonly #redactor: Redactor | undefined

  /** @param redactor takes secrets out of what is kept of a request; nothing when absent. */
  constructor(fs: FileSystem, redactor?: Redactor) {
    this.#fs = fs
    this.#redactor = redactor
  }

  /** Notes that a request waits; returns its id. One that was asked before keeps its place, and what was said to it. */
  async request(request: ExecutionRequest, decision: Partial<ExecutionDecision>): Promise<string> {
    const before = await this.#findRecord(request)
    if (before !== undefined) return before.id
    const digest = hashRequest(request)
    const id = (await this.#isIdTaken(toShortId(digest), digest)) ? digest : toShortId(digest)
    const { reason, categories, part } = decision
    const { vault, cwd, command, network, isolation, env, passedEnv, session, readonly } = request
    const stdin = request.stdin === undefined ? null : Buffer.from(request.stdin).toString()
    const asked = new Date().toISOString()
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
    }
    await this.#save({ id, digest, ...this.#redact(review), asked, approved: null })
    return id
  }

  /** Lets a request run once, whatever was said to it before. ENOENT. */
  async approve(id: string): Promise<Approval> {
    const { denied: _denied, ...waiting } = await this.#find(id)
    const approved = { ...waiting, approved: new Date().toISOString() }
    await this.#save(approved)
    return approved
  }

  /** Refuses a request until it is approved: nobody is asked about it any more. ENOENT. */
  async deny(id: string): Promise<Approval> {
    const denied = { ...(await this.#find(id)), approved: null, denied: new Date().toISOString() }
    await this.#save(denied)
    return denied
  }

  /** Reports whether a person denied a request. */
  async isDenied(request: ExecutionRequest): Promise<boolean> {
    return (await this.#findRecord(request))?.denied !== undefined
  }

  /** Forgets that a request waits, since it was answered where it was asked about. What was said to it elsewhere stays. */
  async withdraw(request: ExecutionRequest): Promise<void> {
    const found = await this.#findRecord(request)
    if (found !== undefined && isWaiting(found)) await this.#remove(found.id)
  }

  /**
   * Consumes the approval of a request: true for one caller only, and only once. A request whose id was just
   * answered with yes is approved by that alone, and no longer waits.
   */
  async consume(request: ExecutionRequest, answered?: string): Promise<boolean> {
    const isAnswered = answered !== undefined && listIds(hashRequest(request)).includes(answered)
    const found = await this.#findRecord(request)
    if (found === undefined || (!isAnswered && found.approved === null)) return isAnswered
    return (await this.#remove(found.id)) || isAnswered
  }

  /** All that wait or are approved, by id. What another process takes meanwhile is not among them. */
  async list(): Promise<Approval[]> {
    if (!(await this.#fs.exists(DIRECTORY))) return []
    const found: Approval[] = []
    for await (const { name } of this.#fs.readdir(DIRECTORY)) {
      const approval = await this.#read(name.slice(0, -FILE_EXTENSION.length))
      if (approval !== undefined) found.push(this.#redact(approval))
    }
    return found
  }

  /** Redacts what is stored for review; the digest still identifies the full request. */
  #redact<Review extends Pick<Approval, 'env'>>(review: Review): Review {
    const redactor = this.#redactor
    return redactor === undefined
      ? review
      : { ...redactor.redactValueForReview(review), env: redactor.redactEnvironmentForReview(review.env) }
  }

  async #find(id: string): Promise<Approval> {
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

  /** False if somebody else was faster. */
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

/** The ids that a request may have. */
function listIds(digest: string): readonly string[] {
  return [toShortId(digest), digest]
}

function toShortId(digest: string): string {
  return digest.slice(0, ID_LENGTH)
}

/** Everything that makes it another request counts. */
function hashRequest(request: ExecutionRequest): string {
  const { vault, cwd, command, env, passedEnv = [], network, isolation, readonly, stdin = null } = request
  const input = stdin === null ? null : Buffer.from(stdin).toString('base64')
  const fields = [vault, cwd, command, Object.entries(env).sort(), network, isolation, readonly, input]
  // Only where there are any, so that what was approved before they counted still is.
  const passed = passedEnv.length === 0 ? [] : [[...passedEnv].sort()]
  return createHash('sha256')
    .update(JSON.stringify([...fields, ...passed]))
    .digest('hex')
}
