import { escapeName } from '../../../text/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatQuestions, type ProcessQuestions, parseReply } from './process-follower.ts'

export const answer: Command = defineCommand(
  {
    name: 'answer',
    summary: 'Answer the questions of a process, or list them',
    details: `A question waits five minutes; spawn --follow, attach and ps show it, too.
Give one word or quoted text per question; a number selects an option, and so do its first words.`,
    scope: 'home',
    arguments: {
      id: { summary: 'Number of the question, in brackets after "asks"', isOptional: true },
      answers: { summary: 'An answer for each question', isOptional: true, isList: true },
    },
    examples: ['coppice answer', 'coppice answer 1 yes', 'coppice answer 2 1 "as it was before"'],
  },
  (call) =>
    withDaemon(call, async (client) => {
      const waiting = await client.call('questions', {}, call.terminal.signal)
      const id = call.optionalArgument('id')
      if (id === undefined) {
        const text = waiting.map(formatQuestions).join('\n')
        return call.output.writeValue(waiting, text || 'no question waits for an answer')
      }
      const pendingQuestions = waiting.find((questions) => questions.id === id)
      if (pendingQuestions === undefined)
        throw new CommandError(`there is no question ${id}; coppice answer lists open questions`)
      const given = joinWords(pendingQuestions, call.argumentList('answers'))
      const answers = pendingQuestions.questions.map((question, index) =>
        parseReply(question, given[index] ?? ''),
      )
      await client.call('answer', { id, answers }, call.terminal.signal)
      const shown = answers.flat().map(escapeName).join('; ')
      return call.output.writeValue({ id, answers }, `answered question ${id}: ${shown}`)
    }),
)

/** Returns one text per question; words without quotes are one answer to a single question. */
function joinWords(asked: ProcessQuestions, words: readonly string[]): readonly string[] {
  const count = asked.questions.length
  const given = count === 1 && words.length > 0 ? [words.join(' ')] : words
  if (given.length === count) return given
  const needed = count === 1 ? 'an answer' : `${count} answers, one for each`
  throw new UsageError(
    `${formatQuestions(asked)}\nquestion ${asked.id} takes ${needed}: coppice answer ${asked.id} …`,
  )
}
