// The conformance suite in Node's own test runner: the same call as in Vitest, with another runner.
// Run: npx node --test examples/custom-backend-node-test.ts
import { describe, it } from 'node:test'
import { fileSystemSuite } from 'coppice/conformance'
import { BucketFs } from './custom-backend.ts'

fileSystemSuite({ describe, it }, { name: 'BucketFs', create: () => new BucketFs() })
