import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundleOptions, ONE_PROGRAM, programs, root } from './bundle-options.js'
import { writeLicenses } from './licenses.js'
import { plainBuiltins } from './plain-builtins.js'
import { plainText } from './plain-text.js'

const target = join(root, 'dist/cli')
/** Packages of a hundred and more files, of which a server of tools needs a part. */
const MANY_FILES = ['zod', '@modelcontextprotocol/server', '@modelcontextprotocol/core']
/** Small, and needed by many commands. All others are loaded by the commands that need them. */
const BUNDLED = ['ignore', 'smol-toml', 'unbash', ...MANY_FILES, ...ONE_PROGRAM]

// The command line in a few files: Node takes half a millisecond and more to load each, and there are hundreds.
/** What the bundle for hooks loads when something changed. */
const CHANGED_DIRECTORY = 'record-changed-directory'
/** Scenes of the demo, which load a hundred files of zod. */
const SCENES = /demo-scenes/
/** Everything that runs commands. */
const WORKSPACE = '/src/workspace/'
const bundle = await bundled([
  'src/cli/main.ts',
  `src/cli/commands/undo/${CHANGED_DIRECTORY}.ts`,
  ...programs,
])
/** What every command needs that opens a home. */
const forHome = await modulesOf([
  'src/cli/dispatch.ts',
  'src/cli/access/home-access.ts',
  'src/cli/access/recover-directory.ts',
  'src/backends/vault/index.ts',
])
// Each by itself: together, the indexes of folders lead one to what only the other needs.
const forApply = new Set([
  ...(await modulesOf(['src/cli/commands/fork/apply.ts'])),
  ...(await modulesOf(['src/cli/commands/fork/compare.ts'])),
  ...(await modulesOf(['src/cli/access/recover-linked-directory.ts'])),
])
const forExec = await modulesOf([
  'src/cli/commands/start/exec.ts',
  'src/cli/commands/start/enter.ts',
  'src/boundary/index.ts',
  'src/workspace/index.ts',
])
const forPlainCommands = await modulesOfPlainCommands()
const options = {
  dir: target,
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  // Without comments and indentation, which take time to read at every start. Names stay: a trace shows them.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  codeSplitting: {
    // What opens a home; beside it, what `apply` and `compare` need; beside both, what `exec` and `enter` need. Then the commands
    // that run nothing, and all others.
    groups: [
      {
        name: 'runtime',
        test: /rolldown[\\/]runtime|oxc-project[\\/]runtime|src\/cli\/(?:package-root|framework\/terminal)/,
        priority: 5,
      },
      {
        name: 'home',
        test: (id) => forHome.has(id) || (forPlainCommands.has(id) && (forExec.has(id) || forApply.has(id))),
        priority: 4,
      },
      { name: 'apply', test: (id) => forApply.has(id), priority: 3, includeDependenciesRecursively: false },
      { name: 'exec', test: (id) => forExec.has(id), priority: 2 },
      { name: 'plain', test: (id) => forPlainCommands.has(id) && id.includes('/src/cli/'), priority: 1 },
      { name: 'commands', test: (id) => /src\/cli\/(?!main)/.test(id) && !SCENES.test(id) },
    ],
  },
}
for (let missing = [...forApply]; missing.length > 0; ) {
  missing = findMissing((await bundle.generate(options)).output)
  for (const id of missing) forApply.add(id)
}
await bundle.write(options)
await writeHookBundle()
writeLicenses(target, BUNDLED)

/**
 * Writes what a hook of an agent needs when nothing changed. CommonJS, because Node takes milliseconds to present its own
 * modules to others.
 */
async function writeHookBundle() {
  const options = bundleOptions({ hook: join(root, 'src/cli/commands/undo/hook-main.ts') }, BUNDLED)
  const later = {
    name: 'later',
    resolveId: (id) =>
      id.includes(CHANGED_DIRECTORY) ? { id: `./${CHANGED_DIRECTORY}.js`, external: 'relative' } : undefined,
  }
  const hook = await rolldown({ ...options, plugins: [later] })
  await hook.write({
    file: join(target, 'hook.cjs'),
    format: 'cjs',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  })
}

/**
 * Finds modules that the chunk of `apply` needs from other chunks: functions that only other commands call may need them,
 * beside those that `apply` calls.
 */
function findMissing(chunks) {
  const own = chunks.find((chunk) => chunk.name === 'apply' && !chunk.isEntry && !chunk.isDynamicEntry)
  return [...own.code.matchAll(/import\s*\{([^}]*)\}\s*from\s*["']\.\/([^"']+)["']/g)].flatMap(
    ([, names, file]) => {
      const other = chunks.find(({ fileName }) => fileName === file)
      if (/^(?:rolldown-runtime|runtime|home)-/.test(file) || other === undefined) return []
      const wanted = names.split(',').map((name) => /(\w+?)(?:\$\d+)?$/.exec(name.trim())?.[1])
      const found = Object.entries(other.modules).filter(([, module]) =>
        module.renderedExports.some((name) => wanted.includes(name)),
      )
      if (found.length === 0) throw new Error(`apply needs ${names} of ${file}; name its module in forApply`)
      return found.map(([id]) => id)
    },
  )
}

function bundled(paths) {
  const input = Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(root, path)]))
  const options = bundleOptions(input, BUNDLED)
  return rolldown({
    ...options,
    plugins: [plainBuiltins, plainText],
    preserveEntrySignatures: 'allow-extension',
  })
}

/** The modules that are loaded with some, without what they load later. */
async function modulesOf(paths) {
  return new Set([...(await closuresOf(paths)).values()].flatMap((modules) => [...modules]))
}

/** The modules of all commands that do not load what runs commands. */
async function modulesOfPlainCommands() {
  const paths = globSync('src/cli/commands/*/*.ts', { cwd: root }).filter((path) => !SCENES.test(path))
  const closures = [...(await closuresOf(paths)).values()]
  const plain = closures.filter((modules) => ![...modules].some((id) => id.includes(WORKSPACE)))
  return new Set(plain.flatMap((modules) => [...modules]))
}

/** For each path, the modules that are loaded with it. */
async function closuresOf(paths) {
  const { output } = await (await bundled(paths)).generate({ format: 'esm' })
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk]] : [])))
  const collect = (chunk, found) => {
    if (chunk === undefined || found.has(chunk)) return found
    found.add(chunk)
    for (const name of chunk.imports) collect(chunks.get(name), found)
    return found
  }
  const entries = [...chunks.values()].filter((chunk) => chunk.isEntry)
  return new Map(
    entries.map((entry) => [
      entry.facadeModuleId,
      new Set([...collect(entry, new Set())].flatMap((chunk) => chunk.moduleIds)),
    ]),
  )
}
