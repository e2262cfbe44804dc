import type { ClaimGroup } from './claim.ts'

/** Every promise that `docs/evidence.md` makes, in the order of the page. */
export const claimGroups: readonly ClaimGroup[] = [
  {
    title: 'Nothing acknowledged is lost',
    claims: [
      {
        promise: 'A killed writer loses nothing it acknowledged and leaves nothing torn.',
        method:
          'SIGKILL at random moments of a random script, on every engine; a model says what must be there.',
        tests: ['test/torture/kill.test.ts'],
        figures: ['kills'],
      },
      {
        promise: 'A power cut loses nothing that was acknowledged as durable.',
        method:
          'A loop device drops every write after the cut; a control run with syncing switched off must fail.',
        tests: ['test/torture/power-cut.test.ts'],
        figures: ['powerCuts'],
      },
      {
        promise: 'A failed sync is never acknowledged, and a full disk is ENOSPC.',
        method: 'strace fails fsync, fdatasync and msync; a small ext4 is filled and given room again.',
        tests: ['test/torture/disk-failures.test.ts'],
        figures: ['failedSyncs', 'fullDisks'],
      },
      {
        promise: 'An engine that fails once leaves consistent, usable vaults.',
        method: 'Every call of a script to the engine fails once, in a run of its own.',
        tests: ['test/torture/faults.test.ts'],
        figures: ['engineFaults'],
      },
      {
        promise: 'Damage is named, and never returned as content.',
        method: 'Bits flip in every page and blob, and in journal rows; every file is read, and fsck runs.',
        tests: ['test/torture/flipped-bits.test.ts'],
        figures: ['bitFlips'],
      },
      {
        promise: 'A commit whose answer is lost is neither done twice nor reported as failed.',
        method:
          'An engine loses answers before, during and after a commit; a caller retries on failure alone.',
        tests: ['test/torture/lost-answers.test.ts'],
      },
      {
        promise: 'On a full disk, files that were closed stay readable and removing works.',
        method:
          'ext4, ext4 with 1 KiB blocks and tmpfs are filled through a mount, which is killed and mounted again.',
        tests: ['test/fuse/full-disk.test.ts'],
      },
      {
        promise: 'On a full disk, commands remove, drop and collect what the message advises.',
        method: 'Disks are filled through the command line, on every engine; files are cut at every place.',
        tests: ['test/cli/full-disk.test.ts', 'test/freeing.test.ts'],
      },
      {
        promise: 'LevelDB has room for its compactions, and refuses only what grows.',
        method:
          'Pages that do not compress fill a small disk all over the keys; then half of them are removed.',
        tests: ['test/torture/compaction-room.test.ts'],
      },
      {
        promise: 'A writer that never pauses is flushed, one flush at a time.',
        method: 'Writers, checkpoints and forks at once on every engine; the flushes that run are counted.',
        tests: ['test/torture/page-flush.test.ts'],
      },
      {
        promise: 'Of a damaged store, everything that can be read is given back, and the rest is named.',
        method: 'Store files are cut off, overwritten and bits flipped; fsck and salvage run in a child.',
        tests: ['src/backends/vault/salvage.test.ts', 'test/damaged-store.test.ts'],
      },
      {
        promise: 'A damaged LMDB page that ended one process ends no second one.',
        method: 'A process is killed by a damaged page; the next one checks every page first.',
        tests: ['src/store/engines/lmdb/lmdb-open-marker.test.ts'],
      },
      {
        promise: 'A killed apply is finished or taken back by the next command.',
        method: 'apply and undo stop at every step that changes the directory, and a real process is killed.',
        tests: ['src/workspace/link/killed-apply.test.ts'],
      },
    ],
  },
  {
    title: 'Many processes, one truth',
    claims: [
      {
        promise: 'Reads, appends and swaps of several processes are linearizable.',
        method:
          'Histories of four processes are searched for an order that explains them; two seeded flaws must be found.',
        tests: ['test/torture/linearizability.test.ts'],
        figures: ['registerCalls'],
      },
      {
        promise: 'Two writers lose no update, and readers see consistent trees only.',
        method: 'Two processes change one vault, a third reads it all the time.',
        tests: ['test/torture/shared-vault.test.ts'],
        figures: ['sharedWrites'],
      },
      {
        promise: 'A mount, the library, the command line, the daemon and gc lose nothing of each other.',
        method: 'All of them work on one vault at once; every acknowledged line is there exactly once.',
        tests: ['test/torture/every-face.test.ts'],
        figures: ['facesAppends'],
      },
      {
        promise: 'Appends through mounts and the library never overwrite each other.',
        method: 'Four writers, two of them mounts in other processes, on SQLite and LMDB.',
        tests: ['test/fuse/appends.test.ts'],
      },
      {
        promise: 'gc breaks no reader in another process.',
        method:
          'Walks in other processes beside a loop of removals and collections; stopped and killed readers.',
        tests: ['test/torture/readers-beside-gc.test.ts', 'src/store/sessions/sessions.model.test.ts'],
      },
      {
        promise: 'fsck beside gc reports no damage where there is none.',
        method: 'A collection through another home runs between any two reads of fsck and stats.',
        tests: ['test/fsck-beside-gc.test.ts'],
      },
      {
        promise: 'A program that opens many vaults keeps memory only for those in use.',
        method: 'Open logs, holds and the buffers behind cached values are counted after a collection.',
        tests: [
          'src/store/vault/open-logs.test.ts',
          'src/store/sessions/forgotten-holds.test.ts',
          'src/store/files/owned-values.test.ts',
        ],
      },
      {
        promise: 'No clock decides what a merge takes.',
        method: 'The clock is set back and forth between random steps; the result is that of a steady clock.',
        tests: ['src/backends/vault/clock.test.ts'],
      },
    ],
  },
  {
    title: 'A file system, not nearly one',
    claims: [
      {
        promise: 'A mounted vault behaves as a disk does.',
        method: 'Cases of POSIX run on a plain directory first, then on a mount.',
        tests: ['test/fuse/posix.test.ts'],
        only: 'on a mounted vault',
      },
      {
        promise: 'Hostile names, deep trees and huge directories work everywhere.',
        method:
          'Names with quotes, newlines and look-alikes; thousands of levels; hundreds of thousands of entries.',
        tests: ['test/torture/extremes.test.ts'],
      },
    ],
  },
  {
    title: 'Nothing leaks, nothing escapes',
    claims: [
      {
        promise: 'A command in strict isolation reads no credentials and changes nothing outside.',
        method:
          'A list of escapes as root and as nobody, with bubblewrap and with unshare, over every kind of session.',
        tests: ['test/session/isolation.test.ts'],
      },
      {
        promise: 'Policy finds the program behind a disguise.',
        method: 'A list of hostile lines, each with the category it must at least have.',
        tests: ['src/workspace/policy/hostile.test.ts'],
      },
      {
        promise: 'A rule for one program gives the network to no other.',
        method: 'A list of spellings that run something else beside, or instead of, the allowed program.',
        tests: ['src/workspace/policy/rules/rules.test.ts', 'src/workspace/runtime/host-programs.test.ts'],
      },
      {
        promise: 'Other users of the machine read nothing of a home.',
        method:
          'Modes of everything in a home on every engine, under an open umask; homes of earlier versions.',
        tests: ['test/cli/private-home.test.ts'],
      },
      {
        promise: 'No agent reads or writes a home, whatever it is allowed.',
        method: 'Every tool and mount, by symbolic links, hard links, other spellings and /proc.',
        tests: ['src/backends/host/closed-directories.test.ts', 'src/namespace/closed-homes.test.ts'],
      },
      {
        promise: 'Hidden credentials are not in copies of a directory.',
        method: 'Commands move the directories around hidden places and read them in the next command.',
        tests: ['test/session/hidden-copies.test.ts'],
      },
      {
        promise: 'apply follows no directory that is swapped for a link.',
        method: 'A thread swaps directories, a file and the stage for links while an apply writes.',
        tests: ['src/workspace/link/apply-race.test.ts'],
      },
      {
        promise: 'Hostile servers and archives exhaust neither memory nor time.',
        method: 'Endless and repeated listings, huge answers, archives that expand, overlap or lie deep.',
        tests: [
          'test/backends-s3/hostile.test.ts',
          'test/backends-git/hostile-server.test.ts',
          'src/backends/archive/hostile.test.ts',
          'src/devices/mcp/hostile-server.test.ts',
        ],
      },
      {
        promise: 'No symbolic link leads out of a host directory, not in a race either.',
        method: 'Another process swaps directories for links while files are read and written.',
        tests: [
          'src/backends/host/confinement.test.ts',
          'src/backends/host/confinement-race.test.ts',
          'src/access/link-race.test.ts',
          'src/tools/host/host-race.test.ts',
        ],
      },
      {
        promise: 'Secrets of the environment reach no record, log or trace.',
        method: 'Every way from a process, an MCP server or a typed command to something that is kept.',
        tests: [
          'test/daemon/secrets.test.ts',
          'test/daemon/mcp-secrets.test.ts',
          'test/cli/typed-secrets.test.ts',
        ],
      },
    ],
  },
]
