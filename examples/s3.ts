// A bucket as a file system, as docs/guide/s3.md explains it. A server on this machine stands in for AWS.
// Run: npx node examples/s3.ts
import assert from 'node:assert/strict'
import { grep, hash, isVfsError, MountTable, OverlayFs, readText } from 'coppice'
import { S3Fs } from 'coppice/backends/s3'
import { S3Server } from '../test/support/s3-server.ts'

await using server = await S3Server.s3rver()
const client = server.client()
const bucket = await server.bucket(client)

const team = new S3Fs({ bucket, prefix: 'team/data', client })
await team.write('/reports/may.md', '# May\nall is well\n')
console.log(await readText(team, '/reports/may.md', { byteRange: [2, 3] }))
for await (const { path, stat } of team.walk('/')) console.log(path, stat.size)

// Try changes on top of the bucket; only a commit sends them.
const draft = new OverlayFs(team)
const table = new MountTable({ '/team': team, '/draft': draft })
await table.write('/draft/reports/june.md', '# June\nall is well\n')
for await (const { path, line } of grep(table, '/', 'well')) console.log(`${path}:${line}`)
await draft.commit()

// Of two who change a file at once, one is told.
const seen = await hash(team, '/reports/may.md')
await team.write('/reports/may.md', '# May\ntheirs\n')
try {
  await team.write('/reports/may.md', '# May\nmine\n', { ifMatch: seen })
} catch (error) {
  if (!isVfsError(error, 'ECONFLICT')) throw error
  console.log('somebody else was faster: read again')
}

assert.equal(await readText(team, '/reports/may.md'), '# May\ntheirs\n')
assert.equal(await readText(team, '/reports/june.md'), '# June\nall is well\n')
