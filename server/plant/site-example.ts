import { exampleOf } from '../http/example.ts'
import { Site } from './site.ts'

export const siteExample = exampleOf(Site)
