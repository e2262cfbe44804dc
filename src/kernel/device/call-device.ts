import type { DeviceFile } from './device.ts'

const READ_SIZE = 64 * 1024
const encoder = new TextEncoder()

/** Writes a request as JSON and reads the complete response. */
export async function sendDeviceRequest(
  file: DeviceFile,
  body: unknown,
  signal?: AbortSignal,
): Promise<string> {
  await file.write(encoder.encode(JSON.stringify(body)), signal)
  return readAllText(file)
}

/** Reads the rest of an open file as text. */
export async function readAllText(file: Pick<DeviceFile, 'read'>): Promise<string> {
  return new TextDecoder().decode(await readAllBytes(file))
}

/** Reads the rest of an open file. */
export async function readAllBytes(file: Pick<DeviceFile, 'read'>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for (;;) {
    const bytes = await file.read(READ_SIZE)
    if (bytes.length === 0) return Buffer.concat(chunks)
    chunks.push(bytes)
  }
}
