import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultExclude, defineConfig, type ViteUserConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { FlakyReporter } from './test/support/flaky-reporter.ts'
import { PROGRAMS } from './test/support/program-file.ts'

type Project = Exclude<NonNullable<NonNullable<ViteUserConfig['test']>['projects']>[number], string>

const ALL = ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts']
const TORTURE = 'test/torture/**/*.test.ts'
/** Tests that count the objects of their process: in one that has run other files, each count takes seconds. */
const COUNTING = 'src/store/{sessions/forgotten-holds,vault/open-logs}.test.ts'

/** System tests share mounts, ports and a busy disk. Torture tests get no second try: one loss in two runs is a loss. */
const { TIMES: times, COPPICE_TRIES: tries = '1' } = process.env

/** Tests across folders that start nothing and are quick. All others in `test` are system tests. */
const UNIT_IN_TEST = [
  'test/{api-report,architecture,bench-baseline,bench-readme,architecture-page,wording}.test.ts',
  'test/*-documented.test.ts',
  'test/adapters/frameworks/*.test.ts',
  'test/kernel/!(ipc).test.ts',
]

/** Tests beside the source that start processes, threads or servers, race, or take longer than a second or two. */
const SYSTEM_IN_SRC = [
  'src/access/{link-race,zones-property}.test.ts',
  'src/adapters/threads/*.test.ts',
  'src/backends/archive/*.test.ts',
  'src/backends/host/{confinement-race,conformance,descriptors,file-locks}.test.ts',
  'src/backends/vault/{history,merge-properties,read-only-home,segments,vault-fs,vault-log,vault-search}.test.ts',
  'src/backends/vault/{exchange,transfer}/*.test.ts',
  'src/boundary/*.test.ts',
  'src/daemon/*.test.ts',
  'src/diff/{applied-patch,patch}.test.ts',
  'src/devices/llm/{api,cli}/*.test.ts',
  'src/devices/{lsp,mcp,web}/*.test.ts',
  'src/machine/{answering-thread,process-tag,process-tree,spawn-without-inherited-fds,temporary-name}.test.ts',
  'src/mcp/serve-stdio.test.ts',
  'src/store/group-commit/{sqlite,vault}-group-commit.test.ts',
  'src/store/engines/**/*.test.ts',
  'src/store/posix/{content,namespace}.model.test.ts',
  'src/store/search/search-index.test.ts',
  'src/store/text/merge-text.test.ts',
  'src/timeline/timeline{,.model}.test.ts',
  'src/tools/{edit/file-edit,files/{file-pages,grep-bounds},host/host-race,pattern/line-pattern}.test.ts',
  'src/vfs/{ordered-map,overlay/apply-attributes}.test.ts',
  'src/workspace/{isolation,link,runtime,session}/**/*.test.ts',
  'src/workspace/policy/{help-options,wrapping}.test.ts',
]

/** Runs torture tests first: they take minutes, and would otherwise run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ project }: TestSpecification) => project.name === 'torture'
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const globalSetup = ['test/support/bundle-programs.ts']
/** Sets where the files of a test are. */
const setupFiles = ['test/support/scratch-in-memory.ts']

const unit: Project = {
  extends: true,
  test: {
    name: 'unit',
    setupFiles,
    include: ['src/**/*.test.ts', 'examples/**/*.test.ts', ...UNIT_IN_TEST],
    exclude: [...defaultExclude, ...SYSTEM_IN_SRC, COUNTING],
    // One process loads each module once for all files. No unit test leaves state behind in a module.
    isolate: false,
  },
}

/** Lets modules start bundles of threads and processes, which load in a fifth of the time of their source. */
const bundledPrograms = {
  name: 'bundled-programs',
  transform: (code: string, id: string): string | null =>
    /\/src\/.*(?<!package-root|\.test)\.ts$/.test(id) && code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', `(process.env.${PROGRAMS} ?? import.meta.url)`)
      : null,
}

const system: Project = {
  extends: true,
  plugins: [bundledPrograms],
  test: {
    name: 'system',
    globalSetup,
    setupFiles,
    // As above. Isolated files would load the same modules again: a third of their processor time.
    isolate: false,
    retry: Number(tries) - 1,
    include: [...SYSTEM_IN_SRC, 'test/**/*.test.ts'],
    exclude: [...defaultExclude, ...UNIT_IN_TEST, TORTURE],
  },
}

const torture: Project = {
  extends: true,
  plugins: [bundledPrograms],
  test: {
    name: 'torture',
    globalSetup,
    include: [TORTURE, COUNTING],
    testTimeout: process.env['COPPICE_TORTURE'] === 'long' ? 600_000 : 120_000,
  },
}

/** Runs every test that has properties with `times` as many cases: ten thousand may find what five hundred do not. */
function multiplyProperties(times: number): Project {
  return {
    extends: true,
    plugins: [
      bundledPrograms,
      {
        name: 'many-cases',
        transform: (code: string, id: string): string | null =>
          id.includes('/node_modules/')
            ? null
            : code.replaceAll(/\bnumRuns: (\d+)/g, (_, runs: string) => `numRuns: ${Number(runs) * times}`),
      },
    ],
    test: {
      name: 'properties',
      globalSetup,
      testTimeout: 60 * 60 * 1000,
      include: globSync(ALL).filter((file) => readFileSync(file, 'utf8').includes('numRuns')),
    },
  }
}

// Programs that tests start load TypeScript in a third of the time from what an earlier one compiled.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/coppice-test/compiled', import.meta.url),
)

const config: ViteUserConfig = defineConfig({
  // The package's own name leads to its source, so that no test runs on a stale build.
  ssr: { resolve: { conditions: ['coppice-source'] } },
  test: {
    // Some tests start Node itself, and hooks remove whole trees, on a machine and a disk that may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // More than cores: tests wait a sixth of their time for processes, disks and clocks.
    maxWorkers: Math.ceil(availableParallelism() * 1.2),
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new FlakyReporter()],
    projects: times === undefined ? [unit, system, torture] : [multiplyProperties(Number(times))],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary'],
    },
  },
})

export default config
