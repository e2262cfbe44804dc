import { z } from 'zod'
import { type DeviceOperation, defineOperation, type OperationCall } from '../operation/index.ts'
import { findOrigin, type ListOrigins, type OriginalText } from '../scanner/index.ts'
import { countCharacters, MemoryRefusal, type MemoryScope, type OpenScope } from './memory-scope.ts'

const MAX_CHARACTERS = 20_000
const text = z.string().max(MAX_CHARACTERS)
const actions = ['add', 'replace', 'remove', 'snapshot', 'capacity'] as const

const fields = {
  action: z.enum(actions),
  content: text.optional().describe('For add: one fact, in plain words.'),
  old: text.optional().describe('For replace and remove: the entry, or a part that only it has.'),
  new: text.optional().describe('For replace: the new text.'),
  origin: z.string().min(1).max(500).optional().describe('The source, if a tool or a page said it.'),
}

interface CommitRequest {
  readonly action: (typeof actions)[number]
  readonly content?: string | undefined
  readonly old?: string | undefined
  readonly new?: string | undefined
  readonly origin?: string | undefined
}

interface MemoryChange {
  readonly message: string
  readonly snapshot?: unknown
}

/** Creates the operation that changes the scope a request names. */
export function createCommitOperation(openScope: OpenScope, listOrigins: ListOrigins): DeviceOperation {
  const target = z.enum(['memory', 'global_memory']).default('memory')
  return defineOperation({
    description:
      'Stores short facts for later: target memory is this project, global_memory every project. ' +
      'Give the source (origin) if a tool or a page said it.',
    schema: z.strictObject({ ...fields, target: target.describe('The scope.') }).superRefine(assertComplete),
    run: async (request, call) =>
      runCommit(await openScope(request.target, call.ctx), request, call, listOrigins),
  })
}

/** Creates the operation that changes the person's profile. */
export function createProfileOperation(openScope: OpenScope, listOrigins: ListOrigins): DeviceOperation {
  return defineOperation({
    description: 'Stores facts about the person: role, preferences, expertise.',
    schema: z.strictObject(fields).superRefine(assertComplete),
    run: async (request, call) => runCommit(await openScope('user', call.ctx), request, call, listOrigins),
  })
}

function assertComplete(request: CommitRequest, issues: z.RefinementCtx): void {
  const needed = {
    add: ['content'],
    replace: ['old', 'new'],
    remove: ['old'],
    snapshot: [],
    capacity: [],
  } as const
  for (const name of needed[request.action]) {
    if (request[name] === undefined)
      issues.addIssue({ code: 'custom', path: [name], message: `${request.action} needs it` })
  }
}

/** Runs a request. Returns refusals of the scope or the scanner as a response, so that the model can correct itself. */
async function runCommit(
  scope: MemoryScope,
  request: CommitRequest,
  { ctx: { pid } }: OperationCall,
  listOrigins: ListOrigins,
): Promise<object> {
  const outcome = await applyCommit(scope, request, () => listOrigins(pid)).catch((error: unknown) => {
    if (error instanceof MemoryRefusal) return { ok: false, error: error.message }
    throw error
  })
  return { ok: true, ...outcome, used: countCharacters(await scope.entries()), limit: scope.limit }
}

async function applyCommit(
  scope: MemoryScope,
  { action, content = '', old = '', new: replacement = '', origin: givenOrigin }: CommitRequest,
  sources: () => Iterable<OriginalText>,
): Promise<MemoryChange> {
  const getOrigin = (written: string) => givenOrigin ?? findOrigin(written, sources())
  switch (action) {
    case 'add': {
      const isNew = await scope.add(content, getOrigin(content))
      return { message: isNew ? 'the fact is stored' : 'the fact was known already' }
    }
    case 'replace': {
      const { text } = await scope.replace(old, replacement, getOrigin(replacement))
      return { message: `the entry is now: ${text}` }
    }
    case 'remove':
      return { message: `removed: ${(await scope.remove(old)).text}` }
    case 'snapshot': {
      const snapshot = await scope.entries()
      return { message: `${snapshot.length} entries`, snapshot }
    }
    case 'capacity': {
      const used = countCharacters(await scope.entries())
      return { message: `${used} of ${scope.limit} characters are used` }
    }
  }
}
