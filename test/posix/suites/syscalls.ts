import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Suite } from '../check.ts'
import { debianSource, needTools } from '../debian-source.ts'
import type { Places } from '../places.ts'
import { execute, lastLines } from '../program.ts'

const NOBODY = 65534
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** What libfuse tries its own file systems with. */
export const syscalls: Suite = {
  name: 'syscalls',
  about: "libfuse's own test_syscalls, as root, on unlinked files, and as nobody",
  async checks(places) {
    await needTools(['cc', 'gcc'])
    const program = join(await debianSource('fuse3', build), 'test_syscalls')
    return [
      cases(places, 'as root', 58, [program]),
      cases(places, 'as root, on files without a name', 58, [program], ['-u']),
      cases(places, 'as nobody', 66, [...asNobody, program]),
    ]
  },
}

/** All cases must be tried: one that is left out is no success. */
function cases(
  places: Places,
  name: string,
  count: number,
  command: readonly string[],
  more: readonly string[] = [],
): Check {
  return {
    name: `${count} cases ${name}`,
    async run() {
      const { mounted } = places.pair(name)
      if (name === 'as nobody') chownSync(mounted, NOBODY, NOBODY)
      const [first = '', ...others] = [...command, mounted, ...more]
      const { status, output } = await execute([first, ...others])
      const passed = output.match(/\] OK$/gm)?.length ?? 0
      if (status !== 0 || passed !== count)
        throw new Error(`${passed} of ${count} passed: ${lastLines(output)}`)
    },
  }
}

async function build(directory: string): Promise<void> {
  // What its own build would find out.
  const include = join(directory, 'found')
  mkdirSync(include)
  writeFileSync(
    join(include, 'fuse_config.h'),
    '#define HAVE_COPY_FILE_RANGE 1\n#define HAVE_STRUCT_STAT_ST_ATIM 1\n',
  )
  const source = join(directory, 'test/test_syscalls.c')
  const { status, output } = await execute([
    'cc',
    '-w',
    `-I${include}`,
    '-o',
    join(directory, 'test_syscalls'),
    source,
  ])
  if (status !== 0) throw new Error(`test_syscalls cannot be built: ${lastLines(output)}`)
}
