import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { whyNoProgram } from './debian-programs.ts'
import { root } from './run-node.ts'
import { run, whyNotNobody } from './tools.ts'

/** Reason why `runAsOrdinaryUser` cannot work here; undefined if it can. */
export function whyNoOrdinaryMounts(): string | undefined {
  return whyNoProgram('fusermount3') ?? whyNoProgram('python3') ?? whyNotNobody()
}

/**
 * Runs a script of a shell as on a machine where everybody may open /dev/fuse, and returns its lines. In it, `coppice` is
 * the program, `serve` mounts in the background, and the working directory is the user's own.
 *
 * @param access shell lines that set who may open the device `$1/fuse`.
 */
export function runAsOrdinaryUser(
  scratch: string,
  script: string,
  access = 'chmod 666 "$1/fuse"',
): { home: string; lines: string[] } {
  const home = join(scratch, 'theirs')
  mkdirSync(home)
  for (const path of [scratch, home]) chmodSync(path, 0o777)
  const output = run(
    'unshare',
    '-m',
    'sh',
    '-ec',
    createBecomeUser(access),
    process.execPath,
    home,
    root,
    PRELUDE + script,
  )
  return { home, lines: output.trim().split('\n') }
}

/** $0 is Node, $1 the user's directory, $2 the repository, $3 the script. */
const createBecomeUser = (access: string) => `
mknod "$1/fuse" c 10 229; ${access}; mount --bind "$1/fuse" /dev/fuse
exec setpriv --reuid=65534 --regid=65534 --clear-groups \
  env -i PATH=/usr/bin:/bin HOME="$1" COPPICE_HOME="$1/home" sh -c "$3" "$0" "$1" "$2" 2> "$1/complaints"
`
const PRELUDE = `
  node=$0; repository=$2; said=$1/said
  coppice() { "$node" "$repository/bin/coppice.js" "$@"; }
  serve() {
    rm -f $said; "$node" "$repository/bin/coppice.js" mount "$@" > $said 2>&1 &
    until grep -qs "is mounted" $said; do kill -0 $! || { cat $said; exit 1; }; sleep 0.05; done
  }
  cd "$1"
`
