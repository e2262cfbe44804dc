/**
 * What programs do, one table for each domain. A program is a pure function from its arguments to an effect.
 * It parses no shell and knows no rules: what it runs in turn is handed back to be judged.
 * Invariant: a name that is in no table is never read-only.
 */
import { build } from './build.ts'
import { builtins } from './builtins.ts'
import { editors } from './editors.ts'
import { files } from './files.ts'
import { searches } from './find.ts'
import { versionControl } from './git.ts'
import { interpreters } from './interpreters.ts'
import { network } from './network.ts'
import { packages } from './packages.ts'
import type { Program } from './program.ts'
import { answering } from './questions.ts'
import { readers } from './readers.ts'
import { streamEditors } from './stream-editors.ts'
import { system } from './system.ts'
import { wrappers } from './wrappers.ts'

export { finding, isStream, type Nested, type Program, unseen } from './program.ts'

const programs: ReadonlyMap<string, Program> = new Map(
  [
    readers,
    builtins,
    build,
    files,
    searches,
    streamEditors,
    packages,
    versionControl,
    network,
    interpreters,
    system,
    editors,
    wrappers,
  ].flatMap((table) =>
    Object.entries(table).map(([name, program]): [string, Program] => [name, answering(name, program)]),
  ),
)

/** The program of a name; also in capitals, which some disks take for the same, and with a version: `python3.12`. */
export function programNamed(name: string): Program | undefined {
  return (
    programs.get(name) ??
    programs.get(name.toLowerCase()) ??
    programs.get(name.toLowerCase().replace(/(?:\.exe)?$|[-.]?\d+(?:\.\d+)*$/, ''))
  )
}
