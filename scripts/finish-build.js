import { writeStamp } from './build-stamp.js'

// The last step of a build: one that fails before is no build.
writeStamp()
