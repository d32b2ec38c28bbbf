/** Checks answers against their schema and writes them as JSON. */
import { Ajv, type ValidateFunction } from 'ajv'
import formatsModule from 'ajv-formats'
import type { TSchema } from 'typebox'
import { anonymous } from './anonymous-schema.ts'
import { JsonText } from './json-text.ts'
import { oncePer, onFirstUse } from './on-first-use.ts'
import { type AnswerFaults, answerRepairer } from './repair-answer.ts'
import type { Declared } from './validate.ts'

/**
 * `strict`: an answer that breaks its schema fails. `lenient`: faulty values become null, or their
 * item is omitted (see repair-answer.ts); text that is already JSON is not checked.
 */
export type AnswerCheck = 'strict' | 'lenient'

interface WrittenAnswer {
  text: string | Buffer
  faults: AnswerFaults | null
}

/** In strict mode, throws when the answer breaks the declared schema. */
export type WriteAnswer = (answer: unknown) => WrittenAnswer

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/

// Tests start hundreds of servers in a process, all with the same endpoints.
const firstError = onFirstUse(() => createAjv())
const allErrors = onFirstUse(() => createAjv({ allErrors: true }))
const validatorOf = oncePer((returns: TSchema) => firstError().compile(anonymous(returns)))

export function answerWriters(check: AnswerCheck) {
  return function answerWriter(endpoint: Declared, name: string): WriteAnswer {
    const repairer = onFirstUse(() => answerRepairer(allErrors(), endpoint.returns))
    return (answer) => {
      if (answer instanceof JsonText) {
        if (check === 'strict')
          demand(validatorOf(endpoint.returns), JSON.parse(String(answer.text)), name)
        return { text: answer.text, faults: null }
      }
      const isValid = validatorOf(endpoint.returns)
      if (check === 'strict') demand(isValid, answer, name)
      else if (!isValid(answer)) {
        const { value, faults } = repairer()(answer)
        return { text: JSON.stringify(value), faults }
      }
      return { text: JSON.stringify(answer), faults: null }
    }
  }
}

function createAjv(options: { allErrors?: true } = {}): Ajv {
  // `JSON.stringify` writes NaN and infinities as null, so the check must reject them.
  const ajv = new Ajv({
    strict: false,
    strictNumbers: true,
    allowUnionTypes: true,
    validateFormats: true,
    ...options,
  })
  formatsModule.default(ajv)
  // Answers are always in UTC.
  return ajv.addFormat('date-time', utc)
}

function demand(isValid: ValidateFunction, answer: unknown, name: string): void {
  if (isValid(answer)) return
  const [error] = isValid.errors ?? []
  throw new Error(
    `the answer of ${name} breaks its schema at ${error?.instancePath || '/'}: ${error?.message} ${JSON.stringify(error?.params)}`,
  )
}
