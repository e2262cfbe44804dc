/** Largest message of a client, over any transport; it fits the write of a whole file. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024
