import type {
  DiffLine,
  WebApproval,
  WebAuthor,
  WebChange,
  WebFileDiff,
  WebHunk,
  WebProcess,
  WebStep,
  WebText,
  WebTree,
} from '../../src/web-api/index.ts'

/** A process as a test needs it. */
export function createProcess(pid: number, values: Partial<WebProcess> = {}): WebProcess {
  return {
    pid,
    parent: 0,
    state: 'running',
    intent: `task ${pid}`,
    agent: 'coder',
    provider: 'script',
    model: 'scripted',
    startedAt: '2026-11-17T10:00:00.000Z',
    endedAt: null,
    elapsedMs: 1000,
    step: 3,
    maxSteps: 20,
    tokens: 12_400,
    budget: 50_000,
    exitCode: null,
    reason: '',
    result: '',
    lastAction: 'read /src/cart.ts',
    questions: [],
    tree: 'fork:shop-1',
    source: 'directory:/home/me/shop',
    ...values,
  }
}

/** A tree as a test needs it. */
export function createTree(tree: string, values: Partial<WebTree> = {}): WebTree {
  const [kind = '', name = ''] = tree.split(/:(.*)/s)
  return {
    tree,
    kind: kind === 'fork' || kind === 'directory' ? kind : 'vault',
    name,
    parent: null,
    time: '2026-11-17T10:00:00.000Z',
    changes: null,
    seq: kind === 'directory' ? null : 12,
    checkpoints: 0,
    commands: [],
    pids: [],
    ports: [],
    canUndo: false,
    ...values,
  }
}

/** The smallest PNG, one transparent pixel, in base64. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

/** A changed file as a test needs it. */
export function createChange(path: string, values: Partial<WebChange> = {}): WebChange {
  return {
    path,
    kind: 'modified',
    type: 'file',
    modes: '',
    oldSize: 120,
    newSize: 140,
    lines: { added: 2, removed: 1 },
    isBinary: false,
    ...values,
  }
}

/** A hunk from lines that begin with a space, a plus or a minus. */
export function createHunk(index: number, start: number, ...lines: readonly string[]): WebHunk {
  let [old, now] = [start, start]
  const parsed = lines.map((line): DiffLine => {
    const text = line.slice(1)
    if (line.startsWith('+')) return { kind: 'added', text, old: null, new: now++ }
    if (line.startsWith('-')) return { kind: 'removed', text, old: old++, new: null }
    return { kind: 'context', text, old: old++, new: now++ }
  })
  return {
    index,
    oldStart: start,
    oldCount: old - start,
    newStart: start,
    newCount: now - start,
    lines: parsed,
    isCut: false,
  }
}

/** The diff of a file as a test needs it. */
export function createDiff(change: WebChange, hunks: readonly WebHunk[]): WebFileDiff {
  return {
    change,
    isBinary: false,
    isTooLarge: false,
    digest: 'd1',
    hunks,
    total: hunks.length,
    next: null,
  }
}

/** A text that is not cut. */
export function createText(text: string): WebText {
  return { text, length: text.length, isCut: false }
}

/** A step as a test needs it. */
export function createStep(step: number, values: Partial<WebStep> = {}): WebStep {
  return {
    step,
    time: '2026-11-17T10:00:05.000Z',
    provider: 'script',
    model: 'scripted',
    tokens: 800,
    action: 'tool_call',
    summary: 'read a file',
    messages: [],
    response: createText('I read the file first.'),
    calls: [],
    checkpoint: `step-${step}`,
    canFork: true,
    ...values,
  }
}

/** A request as a test needs it. */
export function createApproval(id: string, values: Partial<WebApproval> = {}): WebApproval {
  return {
    id,
    state: 'waits',
    command: { shell: 'npm install left-pad && node build.js' },
    cwd: '/',
    vault: '/home/me/shop',
    fork: 'shop-1',
    network: true,
    hosts: ['registry.npmjs.org'],
    reason: '`npm install` reaches the network; it needs approval',
    part: 'npm install left-pad',
    categories: ['networked', 'mutating'],
    env: {},
    passedEnv: [],
    stdin: null,
    isolation: 'namespaces',
    askedAt: '2026-11-17T10:00:00.000Z',
    decidedAt: null,
    scopes: ['once', 'fork', 'project'],
    canTry: true,
    ...values,
  }
}

export const person: WebAuthor = { kind: 'person', context: 'me', pid: null, trace: null, step: null }
export const agent: WebAuthor = { kind: 'process', context: 'coder', pid: 2, trace: null, step: 3 }
