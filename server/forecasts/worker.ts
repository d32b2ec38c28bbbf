import { answerTasks } from '../threads/answer-tasks.ts'
import { perform } from './perform.ts'

answerTasks(perform)
