import { z } from 'zod'
import type { Device } from '../../kernel/index.ts'
import { defineOperation, operationDevice } from '../operation/index.ts'
import type { Tty } from './tty.ts'

const MAX_QUESTIONS = 4
const MAX_OPTIONS = 20
const nonEmptyString = z.string().trim().min(1).max(2000)

/** Creates the device that asks the person. Answers are in the order of the questions; a multiple choice is a list. */
export function ttyDevice(tty: Tty): Device {
  const question = z.strictObject({
    question: nonEmptyString,
    options: z
      .array(nonEmptyString)
      .max(MAX_OPTIONS)
      .default([])
      .describe('Choices; none for a free answer.'),
    multi_select: z.boolean().default(false).describe('True if several options may be chosen.'),
  })
  return operationDevice(
    '/dev/tty',
    'ask_user',
    defineOperation({
      description:
        'Asks the person up to four questions and waits for the answers. Use it for decisions that only they can make.',
      schema: z.strictObject({ questions: z.array(question).min(1).max(MAX_QUESTIONS) }),
      run: async ({ questions }, { ctx: { pid }, signal }) => {
        const replies = await tty.ask(pid, questions, signal)
        return {
          answers: questions.map(({ multi_select }, index) => {
            const reply = replies[index] ?? ''
            return multi_select && typeof reply === 'string' ? [reply] : reply
          }),
        }
      },
    }),
  )
}
