import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'

/**
 * Imports that each folder of src may have: other folders, through their index only, and npm packages. Imports point
 * down; a folder that is missing here fails.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  machine: [],
  'web-api': [],
  http: [],
  web: [
    'web-api',
    ...['preact', '@preact/signals'],
    ...['@codemirror/commands', '@codemirror/merge', '@codemirror/state', '@codemirror/view'],
  ],
  text: [],
  secrets: [],
  vfs: [],
  'git-files': ['vfs'],
  network: ['machine', 'vfs'],
  store: ['machine', 'vfs', 'lmdb', 'classic-level', 'pg'],
  'backends/host': ['machine', 'vfs'],
  'backends/vault': ['machine', 'vfs', 'store', 'backends/s3', 'ignore'],
  'backends/storage': ['machine', 'vfs'],
  'backends/git': ['machine', 'vfs', 'backends/vault', 'isomorphic-git'],
  'backends/s3': ['vfs', 'store', '@aws-sdk/client-s3'],
  'backends/archive': ['vfs', 'tar-stream', 'yauzl', 'yazl'],
  'adapters/just-bash': ['vfs', 'just-bash'],
  access: ['vfs'],
  tools: ['vfs', 'access', 'zod', 're2js'],
  'workspace/policy': ['machine', 'vfs', 'network', 'unbash', 'smol-toml'],
  'workspace/isolation': ['machine', 'vfs'],
  'workspace/session': ['machine', 'vfs', 'fuse', 'workspace/isolation', 'workspace/policy'],
  'workspace/link': ['machine', 'secrets', 'vfs', 'git-files', 'backends/vault', 'workspace/session'],
  'workspace/checkout': ['machine', 'vfs', 'workspace/session', 'workspace/link'],
  'workspace/merge': ['machine', 'vfs', 'backends/vault', 'workspace/link'],
  'workspace/runtime': [
    'secrets',
    'network',
    'machine',
    'fuse',
    'vfs',
    'workspace/policy',
    'workspace/session',
    'workspace/isolation',
    'workspace/link',
    'workspace/checkout',
    'workspace/merge',
  ],
  workspace: [
    'workspace/isolation',
    'workspace/policy',
    'workspace/link',
    'workspace/checkout',
    'workspace/merge',
    'workspace/runtime',
  ],
  kernel: ['machine', 'secrets', 'vfs', 'access', 'zod'],
  'devices/child': ['machine'],
  'devices/children': ['vfs', 'kernel', 'devices/operation', 'zod'],
  'devices/fs': ['vfs', 'access', 'tools', 'kernel'],
  'devices/operation': ['vfs', 'kernel', 'zod'],
  'devices/shell': ['vfs', 'tools', 'kernel', 'devices/operation', 'zod'],
  'devices/mcp': [
    'vfs',
    'kernel',
    'devices/child',
    'devices/operation',
    'devices/scanner',
    '@modelcontextprotocol/client',
    'zod',
  ],
  'devices/web': [
    'machine',
    'vfs',
    'network',
    'kernel',
    'devices/operation',
    'robots-parser',
    'turndown',
    'zod',
  ],
  'devices/lsp': [
    'vfs',
    'tools',
    'kernel',
    'devices/child',
    'devices/operation',
    'vscode-languageserver-protocol',
    'zod',
  ],
  'devices/llm': [
    'machine',
    'vfs',
    'kernel',
    'devices/operation',
    'zod',
    'yaml',
    'ai',
    '@ai-sdk/anthropic',
    '@ai-sdk/google',
    '@ai-sdk/openai-compatible',
  ],
  agents: ['vfs', 'kernel', 'yaml', 'zod'],
  'devices/stored': ['vfs'],
  'devices/scanner': [],
  'devices/memory': ['vfs', 'kernel', 'devices/operation', 'devices/stored', 'devices/scanner', 'zod'],
  'devices/tasks': ['vfs', 'kernel', 'devices/operation', 'devices/stored', 'zod'],
  'devices/tty': ['vfs', 'kernel', 'devices/operation', 'zod'],
  'devices/cron': ['vfs', 'kernel', 'devices/operation', 'devices/stored', 'croner', 'zod'],
  'devices/null': ['kernel'],
  'devices/proc': ['vfs', 'kernel'],
  'devices/skills': [
    'vfs',
    'kernel',
    'agents',
    'devices/operation',
    'devices/stored',
    'devices/scanner',
    'zod',
  ],
  config: ['machine', 'vfs', 'access', 'text', 'smol-toml', 'zod'],
  diff: ['vfs', 'backends/vault', 'text'],
  profiles: ['machine', 'vfs', 'text', 'config', 'workspace', 'smol-toml'],
  boundary: ['machine', 'secrets', 'vfs', 'network', 'backends/vault', 'workspace', 'config'],
  'timeline/events': ['machine', 'vfs', 'backends/vault', 'workspace/link'],
  timeline: ['machine', 'vfs', 'git-files', 'workspace/link', 'timeline/events'],
  'timeline/watch': ['machine', 'workspace/link', 'timeline/events'],
  'agent-hooks': ['machine', 'vfs'],
  namespace: [
    'machine',
    'secrets',
    'vfs',
    'git-files',
    'text',
    'config',
    'diff',
    'boundary',
    'backends/host',
    'backends/vault',
    'backends/storage',
    'access',
    'tools',
    'workspace',
    'zod',
  ],
  'agent-kernel': [
    'machine',
    'vfs',
    'access',
    'tools',
    'kernel',
    'agents',
    'devices/children',
    'devices/cron',
    'devices/fs',
    'devices/llm',
    'devices/lsp',
    'devices/mcp',
    'devices/memory',
    'devices/null',
    'devices/operation',
    'devices/proc',
    'devices/scanner',
    'devices/shell',
    'devices/skills',
    'devices/tasks',
    'devices/tty',
    'devices/web',
    'backends/host',
    'backends/vault',
    'workspace/isolation',
    'namespace',
    'text',
    'config',
  ],
  'daemon/client': ['machine', 'vfs', 'kernel', 'devices/tty', 'agent-kernel'],
  daemon: [
    'machine',
    'vfs',
    'kernel',
    'devices/operation',
    'devices/tty',
    'backends/vault',
    'config',
    'agent-kernel',
    'daemon/client',
    'web-server',
    'workspace',
    'zod',
  ],
  'web-server/transport': ['http', 'network', 'vfs', 'web-api'],
  'web-server': [
    'web-api',
    'web-server/transport',
    'git-files',
    'machine',
    'secrets',
    'vfs',
    'config',
    'diff',
    'network',
    'kernel',
    'devices/tty',
    'backends/host',
    'backends/vault',
    'boundary',
    'workspace',
    'namespace',
    'timeline',
    'timeline/events',
    'agent-kernel',
    'zod',
  ],
  compose: ['vfs', 'kernel', 'yaml', 'zod'],
  mcp: ['http', 'vfs', 'access', 'tools', 'namespace', 'text', '@modelcontextprotocol/server'],
  fuse: ['machine', 'vfs', 'backends/vault'],
  'adapters/ai-sdk': ['tools', 'ai'],
  'adapters/anthropic-memory': ['vfs', 'zod'],
  'adapters/deepagents': ['vfs'],
  'adapters/langchain': ['vfs', 'tools', '@langchain/core'],
  'adapters/node-fs': ['vfs'],
  'adapters/openai': ['vfs', 'tools'],
  'adapters/threads': ['vfs'],
  'adapters/pyodide': ['machine', 'vfs', 'adapters/threads', 'pyodide'],
  conformance: ['vfs', 'fast-check'],
  cli: [
    'agents',
    'secrets',
    'network',
    'machine',
    'vfs',
    'backends/archive',
    'backends/host',
    'backends/vault',
    'backends/git',
    'fuse',
    'access',
    'tools',
    'namespace',
    'text',
    'config',
    'diff',
    'profiles',
    'boundary',
    'mcp',
    'daemon',
    'daemon/client',
    'git-files',
    'timeline',
    'timeline/events',
    'timeline/watch',
    'agent-hooks',
    'compose',
    'workspace',
    'workspace/session',
  ],
  public: ['vfs', 'backends/host', 'backends/vault', 'tools', 'kernel', 'agent-kernel'],
}

/** Test files may also use the runner, the suite that is being tested on them, and the other side of a protocol. */
const allowedInTests: readonly string[] = [
  'vitest',
  'fast-check',
  'conformance',
  'vfs',
  'backends/host',
  'backends/vault',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/sdk',
]

/** Globals and methods that came with Node 24. The checks of `npm run check:node22` cover more, and take minutes. */
const MISSING_ON_NODE_22 =
  /\bnew (?:Async)?DisposableStack\b|\bSuppressedError\(|\bPromise\.try\b|\bRegExp\.escape\b|\bError\.isError\b|\bFloat16Array\b|\bURLPattern\b|\bAtomics\.pause\b|\bUint8Array\.from(?:Base64|Hex)\b|\.to(?:Base64|Hex)\(\)/

interface Import {
  readonly file: string
  readonly specifier: string
}

describe('the architecture', () => {
  it('lets each folder import only what the allow-list grants it', async () => {
    expect(violations(await importsOfSource())).toEqual([])
  })

  it('keeps modules of Node out of vfs, except their types', async () => {
    const found: string[] = []
    for await (const path of glob('src/vfs/**/*.ts', { cwd: root })) {
      const text = path.endsWith('.test.ts') ? '' : readFileSync(join(root, path), 'utf8')
      if (/^import (?!type\b)[^']*? from 'node:/m.test(text)) found.push(path)
    }
    expect(found).toEqual([])
  })

  it('uses nothing that the oldest supported Node lacks', async () => {
    const found: string[] = []
    for await (const path of glob('{src,bin}/**/*.{ts,tsx,js,cjs}', { cwd: root })) {
      const text = path.includes('.test.') ? '' : readFileSync(join(root, path), 'utf8')
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      if (MISSING_ON_NODE_22.test(code)) found.push(path)
    }
    expect(found).toEqual([])
  })

  it('detects an upward import, a foreign package, a deep import and an unlisted folder', () => {
    const bad: Import[] = [
      { file: 'vfs/memory/memory-fs.ts', specifier: '../../backends/host/index.ts' },
      { file: 'vfs/path.ts', specifier: 'lodash' },
      { file: 'cli/main.ts', specifier: '../vfs/error.ts' },
      { file: 'unlisted/index.ts', specifier: '../vfs/index.ts' },
    ]
    expect(violations(bad)).toHaveLength(bad.length)
  })

  it('has no import cycles', async () => {
    expect(inCircles(await importsOfSource())).toEqual([])
  })

  it('detects a cycle, and only its members', () => {
    const imports: Import[] = [
      { file: 'vfs/start.ts', specifier: './one.ts' },
      { file: 'vfs/one.ts', specifier: './memory/two.ts' },
      { file: 'vfs/memory/two.ts', specifier: '../one.ts' },
      { file: 'vfs/memory/two.ts', specifier: './end.ts' },
    ]
    expect(inCircles(imports)).toEqual(['vfs/memory/two.ts', 'vfs/one.ts'])
  })

  it('has an entry in the allow-list for nothing that is gone', async () => {
    const folders = new Set((await importsOfSource()).map(({ file }) => folderOf(file)))
    expect(Object.keys(allowed).filter((folder) => !folders.has(folder))).toEqual([])
  })
})

function violations(imports: readonly Import[]): string[] {
  return imports.flatMap(({ file, specifier }) => {
    const problem = problemWith(file, specifier)
    return problem === undefined ? [] : [`${file} imports ${specifier}: ${problem}`]
  })
}

function problemWith(file: string, specifier: string): string | undefined {
  const folder = folderOf(file)
  const grants = folder === undefined ? undefined : allowed[folder]
  if (grants === undefined) return 'its folder is not in the allow-list'
  if (specifier.startsWith('node:')) return undefined
  const extra = file.endsWith('.test.ts') ? allowedInTests : []
  const isGranted = (name: string) => grants.includes(name) || extra.includes(name)
  if (!specifier.startsWith('.'))
    return isGranted(packageOf(specifier)) ? undefined : 'the package is not granted'
  const target = normalize(join(dirname(file), specifier))
  const targetFolder = folderOf(target)
  if (targetFolder === folder) return undefined
  if (targetFolder === undefined || !isGranted(targetFolder)) return 'the folder is not granted'
  return target === `${targetFolder}/index.ts` ? undefined : "only the other folder's index may be imported"
}

/** Returns the files in cycles: removes files without imports or importers until none are left. */
function inCircles(imports: readonly Import[]): string[] {
  let arrows = imports
    .filter(({ file, specifier }) => specifier.startsWith('.') && !file.endsWith('.test.ts'))
    .map(({ file, specifier }) => ({ from: file, to: normalize(join(dirname(file), specifier)) }))
  for (;;) {
    const [importing, imported] = [
      new Set(arrows.map(({ from }) => from)),
      new Set(arrows.map(({ to }) => to)),
    ]
    const left = arrows.filter(({ from, to }) => imported.has(from) && importing.has(to))
    if (left.length === arrows.length) return [...importing].sort()
    arrows = left
  }
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Returns the longest listed folder that contains a file of src. */
function folderOf(file: string): string | undefined {
  return Object.keys(allowed)
    .filter((folder) => file === folder || file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0]
}

async function importsOfSource(): Promise<Import[]> {
  const found: Import[] = []
  for await (const path of glob('src/**/*.{ts,tsx}', { cwd: root })) {
    const text = readFileSync(join(root, path), 'utf8')
    for (const [, from, dynamic] of text.matchAll(
      /(?:^|\})[^'\n]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm,
    )) {
      found.push({ file: relative('src', path), specifier: from ?? dynamic ?? '' })
    }
  }
  return found
}
