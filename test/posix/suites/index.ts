/**
 * Test suites of others, run on a mounted vault: each gets its programs from Debian or npm, and says what there is to try.
 * None of them knows FUSE or the store; what they compare with is a directory on the plain disk.
 * Invariant: what cannot be tried here is skipped with a reason, never passed.
 */
import type { Suite } from '../check.ts'
import { databases } from './databases.ts'
import { gitScripts } from './git-scripts.ts'
import { packages } from './packages.ts'
import { stress } from './stress.ts'
import { syscalls } from './syscalls.ts'
import { verifiedIo } from './verified-io.ts'

/** The short ones first. */
export const suites: readonly Suite[] = [syscalls, databases, verifiedIo, packages, stress, gitScripts]
