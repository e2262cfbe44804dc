import { type OpenHome, withHome } from '../../access/home-access.ts'
import { isDatabaseUrl } from '../../access/home-path.ts'
import { filterVisibleVaults } from '../../access/vault-names.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatBytes } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { migrate } from './migrate.ts'

const create: Command = defineCommand(
  {
    name: 'home create',
    summary: 'Create a home in a PostgreSQL database',
    details: `Creates the schema with the tables of the home; later openers need no right to create one.
The schema is coppice, or that of ?schema=. The password comes from PGPASSWORD or ~/.pgpass.
Needs the package pg (npm install pg), and PostgreSQL 15 or later.
--objects needs @aws-sdk/client-s3. The home remembers the bucket; ?endpoint= and ?region= name its server.
Credentials of S3 come from the environment or ~/.aws.
--claim is for a restored home: until then it leaves the objects of the original alone.`,
    scope: 'none',
    options: {
      objects: {
        summary: 'Keep content of more than 1 MiB in this bucket: s3://bucket/prefix',
        value: 'url',
      },
      claim: { summary: 'Take over a bucket that has all objects of this home and no other user' },
    },
    arguments: { url: { summary: 'postgres://user@host/database' } },
    examples: [
      'coppice home create postgres://ann@db.example.com/work',
      "coppice home create 'postgres://ann@/work?host=/run/postgresql&schema=team_a'",
      'coppice home create postgres://ann@db.example.com/work --objects s3://team-content/work',
    ],
  },
  async (call) => {
    const url = call.argument('url')
    if (!isDatabaseUrl(url)) {
      throw new UsageError(
        `'${url}' is no URL such as postgres://user@host/database; a directory becomes a home with: coppice vault create <name>`,
      )
    }
    const { assertNoPassword } = await import('../../access/shared-home.ts')
    await assertNoPassword(url)
    const { hideUrlPassword, openHome, parseObjectsUrl } = await import('../../../backends/vault/index.ts')
    const objects = call.option('objects')
    const claim = call.has('claim')
    if (claim && objects === undefined)
      throw new UsageError('--claim needs the bucket; name it with --objects')
    const home = await openHome({
      url,
      interruption: call.terminal.signal,
      ...(objects !== undefined && { objects: { ...parseObjectsUrl(objects), claim } }),
    })
    await home.close()
    const label = hideUrlPassword(url)
    await call.output.writeValue(
      { home: label },
      `the home ${label} is ready; use it with: export COPPICE_HOME='${label}'`,
    )
  },
)

const info: Command = defineCommand(
  {
    name: 'home info',
    summary: 'Show where the home is and what it allows',
    scope: 'home',
    examples: ['coppice home info', 'coppice home info --home postgres://ann@db.example.com/work'],
  },
  (call) =>
    withHome(call, async (open) => {
      const facts = await readFacts(open)
      const rows = [
        ['home', facts.home],
        ['engine', facts.engine],
        ['access', facts.isReadOnly ? 'read only' : 'read and write'],
        ['shared', facts.isShared ? 'by every machine that reaches the database' : 'by this machine only'],
        ['settings', facts.settings],
        ...(facts.objects === undefined ? [] : [['objects', facts.objects]]),
        ...(facts.problem === undefined ? [] : [['', facts.problem]]),
        ['vaults', String(facts.vaults)],
        ['on disk', formatBytes(facts.totalBytes)],
      ]
      await call.output.writeValue(facts, formatTable(rows).join('\n'))
    }),
)

async function readFacts({ home, path, label }: OpenHome) {
  const { engine, totalBytes, segments } = await home.stats()
  const isShared = label !== path
  return {
    home: label,
    engine,
    isReadOnly: home.isReadOnly,
    isShared,
    objects: isShared ? segments.location : undefined,
    problem: segments.problem,
    settings: path,
    vaults: filterVisibleVaults(await home.vaults()).length,
    totalBytes,
  }
}

export const home: CommandGroup = {
  name: 'home',
  summary: 'Create a shared home, show or move one',
  commands: [create, info, migrate],
}
